/* The page without its data: the parts before and after them.  Generated from viewer/src. */
#ifndef VIEW_PAGE_PAGE_H
#define VIEW_PAGE_PAGE_H

#include <stddef.h>

extern const unsigned char view_page_head[], view_page_tail[];
extern const size_t view_page_head_size, view_page_tail_size;

#endif
