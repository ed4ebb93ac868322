/* Writer of a page that replaces its file as a whole, or not at all.  It is written beside it, block by block, and
 * moved in. One that is served instead of kept grows in memory, in the same way. */
#include "view/page/writer.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

struct view_sheet {
    char *path;  /* NULL: in memory */
    char **data; /* there */
    file_fresh fresh;
    FILE *file;
    int starved;
};

static void free_sheet(view_sheet *sheet) {
    file_fresh_close(&sheet->fresh);
    free(sheet->path);
    free(sheet);
}

/* The stream owns the descriptor. */
static void close_file(view_sheet *sheet) {
    fclose(sheet->file);
    sheet->fresh.file = -1;
}

view_sheet *view_sheet_open(const char *path, sim_error *error) {
    /* an ordinary file, or a new one */
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write a page: not an ordinary file", path);
        return NULL;
    }
    /* memory */
    view_sheet *sheet = calloc(1, sizeof *sheet);
    char *own = sheet ? strdup(path) : NULL;
    if (!own) {
        free(sheet);
        sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a page", path);
        return NULL;
    }
    sheet->path = own;
    /* fresh file beside the old one */
    int trouble = file_fresh_open(&sheet->fresh, path);
    sheet->file = trouble ? NULL : fdopen(sheet->fresh.file, "w");
    if (!sheet->file) {
        sim_fail(error, SIM_NO_RESOURCE, "%s: cannot create: %s", path, strerror(trouble ? trouble : errno));
        free_sheet(sheet);
        return NULL;
    }
    return sheet;
}

view_sheet *view_sheet_memory(char **data, size_t *size) {
    view_sheet *sheet = calloc(1, sizeof *sheet);
    if (sheet) {
        *data = NULL;
        *sheet = (view_sheet){.data = data, .fresh.file = -1, .file = open_memstream(data, size)};
    }
    if (sheet && !sheet->file) {
        free_sheet(sheet);
        sheet = NULL;
    }
    return sheet;
}

void view_sheet_text(view_sheet *sheet, const void *text, size_t length) { fwrite(text, 1, length, sheet->file); }

static void put_base64(FILE *file, const unsigned char *data, size_t size) {
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < size; k += 3) {
        unsigned long group = (unsigned long)data[k] << 16 | (k + 1 < size ? (unsigned long)data[k + 1] << 8 : 0) |
                              (k + 2 < size ? data[k + 2] : 0);
        char four[4] = {letter[group >> 18], letter[group >> 12 & 63], k + 1 < size ? letter[group >> 6 & 63] : '=',
                        k + 2 < size ? letter[group & 63] : '='};
        fwrite(four, 1, 4, file);
    }
}

void view_sheet_block(view_sheet *sheet, const char *kind, const view_bytes *bytes) {
    uLongf size = compressBound((uLong)bytes->size);
    unsigned char *packed = malloc(size);
    sheet->starved |= bytes->starved || !packed ||
                      compress2(packed, &size, bytes->data ? bytes->data : packed, (uLong)bytes->size, 9) != Z_OK;
    if (!sheet->starved) {
        fprintf(sheet->file, "<script type=\"sim/%s\">", kind);
        put_base64(sheet->file, packed, size);
        fputs("</script>\n", sheet->file);
    }
    free(packed);
}

static sim_status close_memory(view_sheet *sheet, sim_error *error) {
    int good = fclose(sheet->file) == 0 && !sheet->starved;
    if (!good) {
        free(*sheet->data);
        *sheet->data = NULL;
    }
    free_sheet(sheet);
    return good ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for a page");
}

sim_status view_sheet_close(view_sheet *sheet, sim_error *error) {
    if (sheet->data) {
        return close_memory(sheet, error);
    }
    /* everything written, then the old file is replaced */
    errno = 0;
    int good = fflush(sheet->file) == 0 && !ferror(sheet->file);
    int number = good ? 0 : errno;
    if (good && !sheet->starved) {
        number = file_fresh_commit(&sheet->fresh);
        good = number == 0;
    }
    /* causes of failure */
    sim_status status = SIM_OK;
    if (sheet->starved) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%s: no memory for a page", sheet->path);
    } else if (!good) {
        status = sim_fail(error, SIM_NO_RESOURCE, "%s: cannot write: %s", sheet->path,
                          number ? strerror(number) : "the file system rejected part of it");
    }
    close_file(sheet);
    free_sheet(sheet);
    return status;
}

void view_sheet_discard(view_sheet *sheet) {
    if (sheet) {
        close_file(sheet);
        if (sheet->data) {
            free(*sheet->data);
            *sheet->data = NULL;
        }
        free_sheet(sheet);
    }
}
