/* Files: read whole, told apart, put in the place of others. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct folder {
    char path[64], name[400];
} folder;

static folder folder_new(void) {
    folder f = {.path = "/tmp/sim-file-XXXXXX"};
    cr_assert_not_null(mkdtemp(f.path));
    return f;
}

static const char *in(folder *f, const char *name) {
    snprintf(f->name, sizeof f->name, "%s/%s", f->path, name);
    return f->name;
}

/* How many names stand in it; removes them where asked to. */
static int names_in(folder *f, int clear) {
    int count = 0;
    DIR *all = opendir(f->path);
    for (struct dirent *entry; (entry = readdir(all));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            if (clear) {
                unlink(in(f, entry->d_name));
            }
        }
    }
    closedir(all);
    return count;
}

static void folder_free(folder *f) {
    names_in(f, 1);
    rmdir(f->path);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void holds(const char *path, const char *text) {
    char *bytes;
    size_t size;
    sim_error error = {0};
    cr_assert_eq(file_read(path, 1000, &bytes, &size, &error), SIM_OK, "%s", error.text);
    cr_expect_str_eq(bytes, text);
    cr_expect_eq(size, strlen(text));
    free(bytes);
}

Test(file, a_file_that_is_not_whole_has_no_name_so_that_a_kill_leaves_nothing) {
    folder f = folder_new();
    write_text(in(&f, "a"), "old");
    file_fresh fresh;
    cr_assert_eq(file_fresh_open(&fresh, in(&f, "a")), 0);
    int unnamed = open(f.path, O_TMPFILE | O_WRONLY, 0600); /* where the file system has such files */
    cr_expect(unnamed < 0 || names_in(&f, 0) == 1);
    close(unnamed);
    cr_assert_eq(write(fresh.file, "new", 3), 3);
    holds(in(&f, "a"), "old");
    cr_assert_eq(file_fresh_commit(&fresh), 0);
    file_fresh_close(&fresh);
    holds(in(&f, "a"), "new");
    cr_expect_eq(names_in(&f, 0), 1);
    folder_free(&f);
}

Test(file, one_that_is_given_up_leaves_what_was_there) {
    folder f = folder_new();
    file_fresh fresh;
    write_text(in(&f, "a"), "old");
    cr_assert_eq(file_fresh_open(&fresh, in(&f, "a")), 0);
    cr_assert_eq(write(fresh.file, "new", 3), 3);
    file_fresh_close(&fresh);
    holds(in(&f, "a"), "old");
    cr_expect_eq(names_in(&f, 0), 1);
    cr_expect_neq(file_fresh_open(&fresh, in(&f, "none/a")), 0);
    folder_free(&f);
}

Test(file, the_file_behind_a_link_is_replaced_and_the_link_stays) {
    folder f = folder_new();
    file_fresh fresh;
    struct stat about;
    write_text(in(&f, "a"), "old");
    cr_assert_eq(symlink("a", in(&f, "link")), 0);
    cr_assert_eq(file_fresh_open(&fresh, f.name), 0);
    cr_assert_eq(write(fresh.file, "new", 3), 3);
    cr_assert_eq(file_fresh_commit(&fresh), 0);
    file_fresh_close(&fresh);
    cr_expect(lstat(in(&f, "link"), &about) == 0 && S_ISLNK(about.st_mode));
    holds(in(&f, "a"), "new");
    folder_free(&f);
}

Test(file, only_ordinary_files_are_read_and_none_is_waited_for) {
    folder f = folder_new();
    char *bytes;
    size_t size;
    sim_error error = {0};
    cr_assert_eq(mkfifo(in(&f, "pipe"), 0600), 0);
    alarm(10);
    cr_expect_eq(file_read(f.name, 1000, &bytes, &size, &error), SIM_BAD_INPUT);
    alarm(0);
    cr_expect_str_eq(error.text, "not an ordinary file");
    cr_expect_eq(file_read("/dev/zero", 1000, &bytes, &size, &error), SIM_BAD_INPUT);
    cr_expect_eq(file_read(f.path, 1000, &bytes, &size, &error), SIM_BAD_INPUT);
    cr_expect_eq(file_read(in(&f, "none"), 1000, &bytes, &size, &error), SIM_NO_RESOURCE);
    write_text(in(&f, "long"), "12345");
    cr_expect_eq(file_read(f.name, 4, &bytes, &size, &error), SIM_BAD_INPUT);
    cr_expect_null(bytes);
    folder_free(&f);
}

Test(file, one_file_is_known_under_all_its_names) {
    folder f = folder_new();
    char a[200], b[200], hard[200], soft[200];
    snprintf(a, sizeof a, "%s/a", f.path);
    snprintf(b, sizeof b, "%s/../%s/a", f.path, strrchr(f.path, '/') + 1);
    snprintf(hard, sizeof hard, "%s/hard", f.path);
    snprintf(soft, sizeof soft, "%s/soft", f.path);
    cr_expect(file_same(a, b), "neither is there yet");
    cr_expect_not(file_same(a, hard));
    write_text(a, "x");
    cr_assert(link(a, hard) == 0 && symlink(a, soft) == 0);
    cr_expect(file_same(a, b) && file_same(a, hard) && file_same(soft, b));
    write_text(in(&f, "other"), "x");
    cr_expect_not(file_same(a, f.name));
    folder_free(&f);
}
