/* Services for all stages of the loader: status, reading of objects, paths, lookup of bodies by name, limits of work. */
#include "scene/loader/loader.h"
#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool loader_good(const loader *l) { return !l->stopped && !l->report.no_memory && l->report.found->count == 0; }

bool loader_read(loader *l, const node *n, const table *t, void *out) {
    l->report.muted++;
    bool good = read_object(&l->reader, n, t, out);
    l->report.muted--;
    return good;
}

void loader_note_file(loader *l, const char *path) {
    if (!l->file) {
        l->file = POOL_NEW(l->kept, const char *, l->limits.files);
        l->scene->file = l->file;
    }
    const char *kept = l->file ? pool_text(l->kept, path) : NULL;
    if (kept && l->scene->nfile < l->limits.files) {
        l->file[l->scene->nfile++] = kept;
    }
    l->report.no_memory |= !kept;
}

const char *path_beside(loader *l, const document *d, const char *file) {
    const char *from = d->from.name, *slash = strrchr(from, '/');
    size_t folder = slash ? (size_t)(slash - from) + 1 : 0;
    bool set = d == l->documents && l->folder; /* by the caller, for the main document */
    if (set) {
        from = l->folder;
        folder = strlen(from);
    }
    while (strncmp(file, "./", 2) == 0) {
        file += 2;
    }
    folder = file[0] != '/' ? folder : 0;
    char *path = pool_alloc(l->work, folder + strlen(file) + 2, 1);
    if (!path) {
        l->report.no_memory = true;
        return NULL;
    }
    memcpy(path, from, folder);
    if (set && folder) {
        path[folder++] = '/';
    }
    strcpy(path + folder, file);
    return path;
}

bool loader_full_name(const scope *s, const char *name, char text[MAX_NAME_BYTES + 1]) {
    int length = snprintf(text, MAX_NAME_BYTES + 1, "%s%s", s->prefix, name);
    return length >= 0 && length <= MAX_NAME_BYTES;
}

bool loader_spend(loader *l, int64_t work, const node *at) {
    l->worked += work;
    if (l->worked > l->limits.work && !l->stopped) {
        report_value(&l->report, at, NULL,
                     "too much work: more than %lld steps for patterns, overrides, scatters and shapes",
                     (long long)l->limits.work);
        l->stopped = true;
    }
    return !l->stopped;
}

const char *loader_nearest(loader *l, const scope *s, const char *name, char *hint, size_t size) {
    nearest near = {.wanted = name};
    size_t skip = strlen(s->prefix);
    for (int i = s->first; i < s->end; i++) {
        if (strncmp(l->entries[i].name, s->prefix, skip) == 0) {
            nearest_try(&near, l->entries[i].name + skip);
            if (l->entries[i].joint_name) {
                nearest_try(&near, l->entries[i].joint_name + skip);
            }
        }
    }
    return nearest_hint(&near, hint, size);
}

/* The body or joint of an index of names; `kind` says in an error which names are wanted. */
static int find_place(loader *l, const scope *s, const char *name, const node *at, const char *kind) {
    char full[MAX_NAME_BYTES + 1], hint[160];
    int found = loader_full_name(s, name, full) ? names_find(&l->names, full) : -1;
    if (found < 0 && !node_origin(at)->blamed && !l->unnamed_body) {
        const char *said = report_full(&l->report) ? NULL : loader_nearest(l, s, name, hint, sizeof hint);
        report_once(&l->report, at, said, "there is no %s \"%.100s\"%s", kind, name, s->outer ? " in this model" : "");
    }
    return found;
}

int loader_find(loader *l, const scope *s, const char *name, const node *at) {
    return find_place(l, s, name, at, "body");
}

bool loader_has_frame(loader *l, const entry *e, const node *at) {
    if (node_member(e->body, "soft")) {
        report_once(&l->report, at,
                    "\"attachments\" hold its nodes; \"center_of_mass\" and \"momentum\" are those of all",
                    "the soft body \"%.80s\" moves by its nodes, and its frame stays where it is", e->name);
        return false;
    }
    return true;
}

int loader_find_joint(loader *l, const scope *s, const char *name, const node *at) {
    char full[MAX_NAME_BYTES + 1];
    int found = loader_full_name(s, name, full) ? names_find(&l->joints, full) : -1;
    return found >= 0 ? found : find_place(l, s, name, at, "joint or body");
}

void loader_report_refusal(loader *l, const node *at) {
    sim_builder *failed = l->builder;
    sim_error why = {0};
    l->builder = NULL;
    sim_model_free(sim_builder_finish(failed, &why));
    if (why.status == SIM_NO_RESOURCE) {
        l->report.no_memory = true;
    } else {
        report_value(&l->report, at, NULL, "%s", why.text);
    }
}

void loader_note_part(loader *l, part_place **list, int index, const node *at) {
    part_place *place = index >= 0 ? POOL_NEW(l->work, part_place, 1) : NULL;
    if (index < 0) {
        loader_report_refusal(l, at);
    } else if (place) {
        *place = (part_place){at, index, *list};
        *list = place;
    } else {
        l->report.no_memory = true;
    }
}

const node **loader_part_nodes(loader *l, const part_place *list, int count) {
    const node **at = POOL_NEW(l->work, const node *, count);
    for (const part_place *p = list; at && p; p = p->next) {
        at[p->index] = p->at;
    }
    return at;
}

bool loader_joint_matches(loader *l, const entry *e, const char *pattern) {
    return (e->joint_name && name_matches(e->joint_name, pattern, &l->worked)) ||
           name_matches(e->name, pattern, &l->worked);
}

/* ---- the list ---- */

/* The degree of freedom counts within the joint. */
bool loader_has_dof(loader *l, const entry *e, int64_t dof, const node *at, const node *dof_at) {
    int nv = sim_joint_nv(e->type);
    if (nv == 0) {
        report_once(&l->report, at, NULL, "the joint of \"%.80s\" is fixed and cannot be driven", e->name);
        return false;
    }
    if (dof >= nv) {
        report_once(&l->report, dof_at ? dof_at : at, NULL,
                    "the %s joint of \"%.80s\" has no degree of freedom %d; it has 0 to %d", sim_joint_name(e->type),
                    e->name, (int)dof, nv - 1);
        return false;
    }
    return true;
}

const char *loader_keep_name(loader *l, const scope *s, const char *name, const node *at) {
    char full[MAX_NAME_BYTES + 1];
    if (!name) {
        return NULL;
    }
    if (!loader_full_name(s, name, full)) {
        report_once(&l->report, at, NULL, "this name with its prefixes is longer than %d bytes", MAX_NAME_BYTES);
        return NULL;
    }
    char *kept = pool_text(l->work, full);
    l->report.no_memory |= !kept;
    return kept;
}

const char *loader_claim_name(loader *l, const scope *s, const char *name, const node *at, const char *kind,
                              name_table *taken, int value) {
    const char *kept = loader_keep_name(l, s, name, at);
    if (kept && names_find(taken, kept) >= 0) {
        report_once(&l->report, at, s->outer ? "give each instance a prefix of its own" : NULL,
                    "a second %s has the name \"%.100s\"", kind, kept);
        return NULL;
    }
    if (kept && !names_add(taken, kept, value)) {
        l->report.no_memory = true;
        return NULL;
    }
    return kept;
}

const char *loader_read_text(loader *l, const char *path, size_t *length, sim_error *why) {
    /* text of the file, within the limits of files and bytes */
    char *content = NULL;
    if (++l->nfiles > l->limits.files) {
        sim_fail(why, SIM_BAD_INPUT, "more than %d files", l->limits.files);
        return NULL;
    }
    if (l->files.read(l->files.context, path, true, &content, length, why)) {
        return NULL;
    }
    l->bytes += (int64_t)*length;
    if (l->bytes > l->limits.bytes) {
        free(content);
        sim_fail(why, SIM_BAD_INPUT, "the files of the scene have more than %lld bytes", (long long)l->limits.bytes);
        return NULL;
    }
    /* own copy, which lives as long as the load */
    char *kept = pool_alloc(l->work, *length + 1, 1);
    if (kept) {
        memcpy(kept, content, *length);
    }
    free(content);
    l->report.no_memory |= !kept;
    if (!kept) {
        return NULL;
    }
    /* the scene's hash and list of files */
    sha256_add(&l->hash, kept, *length);
    loader_note_file(l, path);
    return kept;
}
