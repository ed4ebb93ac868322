/* The examples of FIPS 180-4, and lengths around the ends of blocks. */
#include "base/sha256.h"

#include <criterion/criterion.h>
#include <string.h>

static void hash(const char *data, size_t length, size_t step, char out[65]) {
    sha256_state h;
    sha256_start(&h);
    for (size_t i = 0; i < length; i += step) {
        sha256_add(&h, data + i, length - i < step ? length - i : step);
    }
    sha256_finish(&h, out);
}

Test(sha256, gives_the_standard_s_examples) {
    char out[65];
    hash("", 0, 1, out);
    cr_assert_str_eq(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash("abc", 3, 3, out);
    cr_assert_str_eq(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    hash(two, strlen(two), 7, out);
    cr_assert_str_eq(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

Test(sha256, does_not_depend_on_how_the_text_is_cut) {
    char data[200], whole[65], parts[65];
    memset(data, 'x', sizeof data);
    for (size_t length = 50; length < 140; length++) {
        hash(data, length, 1000, whole);
        for (size_t step = 1; step < 70; step += 13) {
            hash(data, length, step, parts);
            cr_assert_str_eq(whole, parts);
        }
    }
}
