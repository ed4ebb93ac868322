/* Vectors of the oracle: its own, so that a slip in the library's cannot hide in both. */
#ifndef ORACLE_VEC_H
#define ORACLE_VEC_H

#include <math.h>
#include <sim/math.h>

/* More digits than the library has: what the oracle rounds away is out of the comparison. */
typedef long double real;

/* In line, where fmaxl, fminl and hypotl would be calls. */
static inline real real_max(real a, real b) { return a > b ? a : b; }
static inline real real_min(real a, real b) { return a < b ? a : b; }
static inline real real_hypot(real x, real y) { return sqrtl(x * x + y * y); }

typedef struct vec {
    real x, y, z;
} vec;

/* By columns. */
typedef struct mat {
    vec x, y, z;
} mat;

static inline vec vec_of(real x, real y, real z) { return (vec){x, y, z}; }
static inline vec vec_from(sim_v3 a) { return (vec){a.x, a.y, a.z}; }
static inline sim_v3 vec_plain(vec a) { return (sim_v3){(double)a.x, (double)a.y, (double)a.z}; }
static inline vec plus(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec minus(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec times(real s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
static inline vec along(vec a, real s, vec b) { return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static inline real dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline real length(vec a) { return sqrtl(dot(a, a)); }
static inline vec unit(vec a) { return times(1 / length(a), a); }
static inline real angle_between(vec a, vec b) { return atan2l(length(cross(a, b)), dot(a, b)); }

static inline mat mat_from(sim_m3 A) { return (mat){vec_from(A.x), vec_from(A.y), vec_from(A.z)}; }
static inline sim_m3 mat_plain(mat A) { return (sim_m3){vec_plain(A.x), vec_plain(A.y), vec_plain(A.z)}; }
static inline vec turn(mat A, vec a) { return along(along(times(a.x, A.x), a.y, A.y), a.z, A.z); }
static inline vec turn_back(mat A, vec a) { return vec_of(dot(A.x, a), dot(A.y, a), dot(A.z, a)); }
static inline mat turn_both(mat A, mat B) { return (mat){turn(A, B.x), turn(A, B.y), turn(A, B.z)}; }

/* Some unit vector at right angles to a. */
static inline vec aside(vec a) {
    vec e = fabsl(a.x) <= fabsl(a.y) && fabsl(a.x) <= fabsl(a.z) ? vec_of(1, 0, 0)
            : fabsl(a.y) <= fabsl(a.z)                           ? vec_of(0, 1, 0)
                                                                 : vec_of(0, 0, 1);
    return unit(cross(a, e));
}

#endif
