/* Version of the library; compiler, instruction set and optimisation of its build. */
#include <sim/base.h>

#if defined(__AVX512F__)
#define ISA "avx512"
#elif defined(__AVX2__) && defined(__FMA__)
#define ISA "avx2+fma"
#elif defined(__x86_64__)
#define ISA "x86-64 baseline"
#else
#define ISA "portable"
#endif

#ifdef __OPTIMIZE__
#define OPTIMISED "optimised"
#else
#define OPTIMISED "not optimised"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *sim_version(void) { return SIM_VERSION_TEXT; }

const char *sim_build_info(void) { return COMPILER ", " ISA ", " OPTIMISED; }
