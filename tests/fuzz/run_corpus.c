/* Runs a fuzz target over files and folders: the kept corpus as a test, with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 0;
    }
    size_t room = 1 << 20;
    uint8_t *data = malloc(room);
    size_t size = data ? fread(data, 1, room, file) : 0;
    fclose(file);
    if (!data) {
        return 0;
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int run_folder(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *item; folder && (item = readdir(folder));) {
        char name[4096];
        if (item->d_name[0] != '.' && snprintf(name, sizeof name, "%s/%s", path, item->d_name) < (int)sizeof name) {
            count += run_file(name);
        }
    }
    if (folder) {
        closedir(folder);
        return count;
    }
    return run_file(path);
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        count += run_folder(argv[i]);
    }
    printf("%d inputs\n", count);
    return count == 0;
}
