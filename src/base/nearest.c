/* Suggestions for misspelt words by the edit distance with swaps of neighbours (optimal string alignment).
 *
 *     d_ij = min(d_(i-1)j + 1,  d_i(j-1) + 1,  d_(i-1)(j-1) + [a_i != b_j],  d_(i-2)(j-2) + 1 if a swap of neighbours)
 *
 * A suggestion has at most a third of the longer word's letters wrong, and at least one is allowed.  Longer words than
 * MAX_WORD_LETTERS and candidates after the first MAX_CANDIDATES are not tried.  Cost: |a| |b| per candidate. */
#include "base/nearest.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WORD_LETTERS = 64, MAX_CANDIDATES = 20000 };

static int min_of_ints(int a, int b) { return a < b ? a : b; }

/* Insertions, deletions, replacements and swaps of neighbours between two texts of at most MAX_WORD_LETTERS letters;
 * capitals count as their small letters. */
static int edit_distance(const char *a, size_t na, const char *b, size_t nb) {
    int row[3][MAX_WORD_LETTERS + 1];
    for (size_t j = 0; j <= nb; j++) {
        row[0][j] = (int)j;
    }
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int change = to_lower(a[i - 1]) != to_lower(b[j - 1]);
            now[j] = min_of_ints(min_of_ints(before[j] + 1, now[j - 1] + 1), before[j - 1] + change);
            bool swap =
                i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) && to_lower(a[i - 2]) == to_lower(b[j - 1]);
            if (swap) {
                now[j] = min_of_ints(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return row[na % 3][nb];
}

void nearest_try(nearest *n, const char *name) {
    size_t na = strlen(n->wanted), nb = strlen(name);
    if (++n->tried > MAX_CANDIDATES || na > MAX_WORD_LETTERS || nb > MAX_WORD_LETTERS) {
        return;
    }
    int allowed = (int)(na > nb ? na : nb) / 3;
    allowed = allowed < 1 ? 1 : allowed;
    int distance = edit_distance(n->wanted, na, name, nb);
    if (distance <= allowed && (!n->best || distance < n->distance)) {
        n->best = name;
        n->distance = distance;
    }
}

const char *nearest_hint(const nearest *n, char *text, size_t size) {
    if (!n->best) {
        return NULL;
    }
    snprintf(text, size, "did you mean \"%.100s\"?", n->best);
    return text;
}

const char *nearest_word(const char *text, const char *const *words) {
    nearest near = {.wanted = text};
    for (; *words; words++) {
        nearest_try(&near, *words);
    }
    return near.best;
}
