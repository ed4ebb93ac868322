/* Parser from JSON text to a tree: the scan finds the place of each value, cJSON decodes, both are walked in step. */
#include "scene/json/document.h"
#include "scene/json/report.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    const source *from;
    const value_position *position;
    node *nodes; /* one for each position, in the same order */
    int next;
    char *strings; /* where the next decoded text goes */
    report *report;
    memory_pool *pool;
} builder;

static const char *keep_string(builder *b, const char *content) {
    size_t length = strlen(content) + 1;
    char *copy = memcpy(b->strings, content, length);
    b->strings += length;
    return copy;
}

static int by_key_then_place(const void *a, const void *b) {
    const node *const *x = a, *const *y = b;
    int order = strcmp((*x)->key, (*y)->key);
    return order ? order : ((*x)->key_at > (*y)->key_at) - ((*x)->key_at < (*y)->key_at);
}

/* Later twins stay in the tree; the report alone makes the document invalid. */
static void find_duplicate_keys(builder *b, node *object) {
    if (object->count < 2) {
        return;
    }
    node **sorted = malloc((size_t)object->count * sizeof *sorted);
    if (!sorted) {
        b->report->no_memory = true;
        return;
    }
    int count = 0;
    for (node *n = object->first; n; n = n->next) {
        sorted[count++] = n;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_key_then_place);
    for (int i = 1; i < count; i++) {
        if (strcmp(sorted[i]->key, sorted[i - 1]->key) == 0) {
            char first[256] = "";
            if (!report_full(b->report)) { /* finding a line takes its time */
                report_name_place(sorted[i - 1], first, sizeof first);
            }
            report_key(b->report, sorted[i], NULL, "the key \"%.80s\" occurs twice (first at %s)", sorted[i]->key,
                       first);
        }
    }
    free(sorted);
}

static node *convert_item(builder *b, const cJSON *item, node *parent);

static void convert_children(builder *b, const cJSON *item, node *n) {
    node **link = &n->first;
    for (const cJSON *child = item->child; child; child = child->next) {
        *link = convert_item(b, child, n);
        link = &(*link)->next;
        n->count++;
    }
}

static node *convert_item(builder *b, const cJSON *item, node *parent) {
    const value_position *position = &b->position[b->next];
    node *n = &b->nodes[b->next++];
    /* places in the text */
    n->parent = parent;
    n->source = b->from;
    n->key_at = position->key;
    n->value_at = position->value;
    if (parent && parent->kind == NODE_OBJECT) {
        n->key = keep_string(b, item->string);
    }
    /* the value by its kind */
    if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
        n->kind = cJSON_IsObject(item) ? NODE_OBJECT : NODE_ARRAY;
        convert_children(b, item, n);
        if (n->kind == NODE_OBJECT) {
            find_duplicate_keys(b, n);
        }
    } else if (cJSON_IsString(item)) {
        n->kind = NODE_TEXT;
        n->text = keep_string(b, item->valuestring);
    } else if (cJSON_IsNumber(item)) {
        n->kind = NODE_NUMBER;
        n->number = item->valuedouble;
        if (!isfinite(n->number)) {
            report_value(b->report, n, NULL, "a number beyond the range of a double (1.8e308)");
        }
    } else if (cJSON_IsBool(item)) {
        n->kind = NODE_FLAG;
        n->number = cJSON_IsTrue(item);
    }
    return n;
}

static node *decode_json(const source *from, const char *content, size_t length, const value_position *position,
                         int count, memory_pool *pool, report *r) {
    cJSON *tree = cJSON_ParseWithLength(content, length);
    builder b = {.from = from, .position = position, .report = r, .pool = pool};
    b.nodes = POOL_NEW(pool, node, count);
    /* Decoded texts are never longer than in the file, where each also has two quotes. */
    b.strings = pool_alloc(pool, length + 1, 1);
    node *root = NULL;
    if (tree && b.nodes && b.strings) {
        root = convert_item(&b, tree, NULL);
    } else {
        r->no_memory = true;
    }
    cJSON_Delete(tree);
    return root;
}

node *document_parse(const source *from, memory_pool *pool, report *r) {
    value_position *position = NULL;
    scan_fault fault;
    int count = json_scan(from->text, from->length, &position, &fault);
    if (count < 0) {
        r->no_memory |= count == -2;
        if (count == -1) {
            report_place(r, from, fault.at, fault.pointer, NULL, "%s", fault.message);
        }
        return NULL;
    }
    node *root = decode_json(from, from->text, from->length, position, count, pool, r);
    free(position);
    /* Doubled keys and infinite numbers leave a tree that is still worth reading for further errors. */
    return root;
}

node *document_parse_option(const source *from, const char *value, memory_pool *pool, report *r) {
    value_position *position = NULL;
    scan_fault fault;
    int count = json_scan(value, strlen(value), &position, &fault);
    if (count >= 0) {
        node *root = decode_json(from, value, strlen(value), position, count, pool, r);
        free(position);
        return root;
    }
    r->no_memory |= count == -2;
    node *word = POOL_NEW(pool, node, 1);
    char *copy = pool_text(pool, value);
    if (!word || !copy) {
        r->no_memory = true;
        return NULL;
    }
    *word = (node){.kind = NODE_TEXT, .text = copy, .source = from};
    return word;
}

node *node_member(const node *object, const char *key) {
    if (!object || object->kind != NODE_OBJECT) {
        return NULL;
    }
    for (node *n = object->first; n; n = n->next) {
        if (strcmp(n->key, key) == 0) {
            return n;
        }
    }
    return NULL;
}

node *node_copy(const node *from, node *parent, memory_pool *pool, int64_t *count, int64_t limit) {
    node *n = ++*count <= limit ? POOL_NEW(pool, node, 1) : NULL;
    if (!n) {
        return NULL;
    }
    /* own node without the original's cached values */
    *n = *from;
    n->origin = from;
    n->parent = parent;
    n->next = NULL;
    n->first = NULL;
    n->values = NULL;
    n->nvalues = 0;
    n->geometry = NULL;
    n->variant = NULL;
    n->variant_failed = n->blamed = n->tried = false;
    /* copies of the children */
    node **link = &n->first;
    for (const node *child = from->first; child; child = child->next) {
        *link = node_copy(child, n, pool, count, limit);
        if (!*link) {
            return NULL;
        }
        link = &(*link)->next;
    }
    return n;
}

const char *node_kind_name(const node *n) {
    static const char *const name[] = {"null", "true or false", "a number", "a text", "an array", "an object"};
    return name[n->kind];
}
