/* Data and steps that all readers of robots share. */
#ifndef SCENE_XML_ROBOT_H
#define SCENE_XML_ROBOT_H

#include "scene/xml/table.h"

/* Letters that names of scenes cannot have become '_'; were there any? */
bool xml_clean_name(char *name);
/* Is it among the elements that the caller leaves out? */
bool xml_allows(const xml_allowed *allowed, const char *name);
/* The nearest moments that a body can have: xx, yy, zz, xy, xz, yz about the centre of mass. */
void inertia_repair(double J[6]);

#endif
