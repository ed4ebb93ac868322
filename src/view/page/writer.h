/* A file that grows beside its place and is moved into it when it is whole. */
#ifndef VIEW_PAGE_WRITER_H
#define VIEW_PAGE_WRITER_H

#include "view/image/bytes.h"
#include <sim/base.h>

typedef struct view_sheet view_sheet;

view_sheet *view_sheet_open(const char *path, sim_error *error);
/* The same in memory, which stands in `data` (free it) and `size` once the sheet was closed.  NULL without memory. */
view_sheet *view_sheet_memory(char **data, size_t *size);
void view_sheet_text(view_sheet *sheet, const void *text, size_t length);
/* A data block of the page: deflated (RFC 1950), in base64 (RFC 4648), as <script type="sim/KIND">. */
void view_sheet_block(view_sheet *sheet, const char *kind, const view_bytes *bytes);
/* Both free the sheet.  The first fails after any earlier failure, and then keeps the old file. */
sim_status view_sheet_close(view_sheet *sheet, sim_error *error);
void view_sheet_discard(view_sheet *sheet);

#endif
