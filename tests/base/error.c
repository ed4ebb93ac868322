/* base/error: how a failure is said. */
#include <criterion/criterion.h>
#include <sim/base.h>
#include <string.h>

Test(error, says_why_and_returns_the_status) {
    sim_error error = {0};
    cr_assert_eq(sim_fail(&error, SIM_BAD_INPUT, "mass %g of \"%s\"", -1.0, "arm"), SIM_BAD_INPUT);
    cr_assert_eq(error.status, SIM_BAD_INPUT);
    cr_assert_str_eq(error.text, "mass -1 of \"arm\"");
}

Test(error, needs_no_place_to_say_it) { cr_assert_eq(sim_fail(NULL, SIM_FAILED, "%d", 1), SIM_FAILED); }

Test(error, cuts_a_text_that_is_too_long) {
    sim_error error = {0};
    char name[2000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    sim_fail(&error, SIM_NO_RESOURCE, "%s", name);
    cr_assert_eq(strlen(error.text), sizeof error.text - 1);
}
