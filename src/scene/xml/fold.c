/* Values that stand as text of elements become attributes, so that all formats are checked and read alike.
 *
 *     <inertial><mass>2</mass></inertial>      as      <inertial mass="2"/>
 *
 * The tables say which (xml_form).  The place of the attribute is that of the element. */
#include "scene/xml/table.h"

#include <string.h>

typedef struct folder {
    report *report;
    memory_pool *pool;
    bool good;
} folder;

static void add_value(folder *f, xml_element *e, const char *name, const char *value, uint32_t at) {
    xml_attribute *a = POOL_NEW(f->pool, xml_attribute, 1);
    if (!a) {
        f->report->no_memory = true;
        f->good = false;
        return;
    }
    *a = (xml_attribute){.name = name, .value = value ? value : "", .at = at, .next = e->attribute};
    e->attribute = a;
}

static void fold_child(folder *f, xml_element *e, const xml_element *child) {
    if (child->first || child->attribute) {
        xml_error(f->report, child, NULL, NULL, "<%.60s> holds more than a value", child->name);
        f->good = false;
    } else if (xml_text(e, child->name)) {
        xml_notice(f->report, child, NULL, NULL, "a second <%s> in <%s>: the first counts", child->name, e->name);
    } else {
        add_value(f, e, child->name, child->content, child->at);
    }
}

/* Values of elements that are written as attributes. */
static void refuse_attributes(folder *f, const xml_element *e, const xml_table *t) {
    for (const xml_attribute *a = e->attribute; a; a = a->next) {
        const xml_key *key = xml_find_key(t, a->name);
        if (key && key->form != XML_ATTRIBUTE) {
            xml_error(f->report, e, a->name, "it stands in an element of its own",
                      "unknown attribute \"%.60s\" of <%.60s>", a->name, e->name);
            f->good = false;
        }
    }
}

static void fold_element(folder *f, xml_element *e, const xml_table *t) {
    refuse_attributes(f, e, t);
    /* the text of the element itself */
    for (int k = 0; k < t->nkeys; k++) {
        if (t->keys[k].form == XML_CONTENT && e->content) {
            add_value(f, e, t->keys[k].name, e->content, e->at);
            e->has_text = false;
        }
    }
    /* those of elements in it */
    xml_element **link = &e->first;
    while (*link && f->good) {
        xml_element *child = *link;
        const xml_key *key = xml_find_key(t, child->name);
        const xml_rule *rule = xml_find_rule(t, child->name);
        if (key && key->form == XML_CHILD) {
            fold_child(f, e, child);
            *link = child->next;
            continue;
        }
        if (rule && rule->use == XML_READ && rule->table) {
            fold_element(f, child, rule->table);
        }
        link = &child->next;
    }
}

bool xml_fold(report *r, memory_pool *pool, xml_element *root, const xml_table *t) {
    folder f = {.report = r, .pool = pool, .good = true};
    fold_element(&f, root, t);
    return f.good;
}
