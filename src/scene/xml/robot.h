/* Data and steps that all readers of robots share. */
#ifndef SCENE_XML_ROBOT_H
#define SCENE_XML_ROBOT_H

#include "scene/xml/element.h"
#include "scene/xml/table.h"

/* Letters that names of scenes cannot have become '_'; were there any? */
bool xml_clean_name(char *name);
/* Is it among the elements that the caller leaves out? */
bool xml_allows(const xml_allowed *allowed, const char *name);
/* May a mesh be read from a file of this name? */
bool xml_is_mesh_name(const char *name);
/* A mesh of a contact shape that cannot be had: an error, with `hint`, or a notice where the caller allows that.
 * `tried`: the absent file; NULL: the attribute `key` of `at` names no mesh file.  `why`: has a text where the file is
 * there, but cannot be read.  false: an error. */
bool xml_miss_mesh(report *r, const xml_allowed *allowed, const xml_element *at, const char *key, const char *tried,
                   const sim_error *why, const char *hint);
/* Says once that `count` meshes of pictures cannot be had: `first` is the first, whose attribute `key` names it, and
 * which cannot be read for the reason `why`; NULL: it is not found, or of another format. */
void xml_say_undrawn(report *r, const xml_element *first, int count, const char *key, const char *why);
/* The nearest moments that a body can have: xx, yy, zz, xy, xz, yz about the centre of mass. */
void inertia_repair(double J[6]);

#endif
