/* Options of all commands that read robots in URDF. */
#ifndef APP_CLI_ROBOTS_H
#define APP_CLI_ROBOTS_H

#include "app/cli/options.h"

#include <sim/scene.h>

extern const char *const robot_bases[];  /* ends with NULL */
extern const char *const robot_meshes[]; /* ends with NULL */

#define ROBOT_AT(request, member) (offsetof(request, robot) + offsetof(robot_request, member))
/* Rows of a table of options; `request` is a struct with a member `robot`. */
#define ROBOT_OPTIONS(request)                                                                                         \
    {"base",                                                                                                           \
     "fixed|free|planar",                                                                                              \
     OPTION_CHOICE,                                                                                                    \
     ROBOT_AT(request, base),                                                                                          \
     .choices = robot_bases,                                                                                           \
     .heading = "Robots (URDF)",                                                                                       \
     .help = "hold the root link, or let it move; default: fixed"},                                                    \
        {"mesh",                                                                                                       \
         "convex|exact|decomposed",                                                                                    \
         OPTION_CHOICE,                                                                                                \
         ROBOT_AT(request, mesh),                                                                                      \
         .choices = robot_meshes,                                                                                      \
         .help = "take collision meshes as their convex hulls (default), as they are, or as convex parts"},            \
        {"package", "NAME=DIR", OPTION_LIST, ROBOT_AT(request, package),                                               \
         .help = "look for package://NAME/... in DIR; repeatable"},                                                    \
        {"repair-inertia", NULL, OPTION_FLAG, ROBOT_AT(request, repair_inertia),                                       \
         .help = "replace inertias that no body has by the nearest that one can have"},                                \
        {"allow", "ELEMENT", OPTION_LIST, ROBOT_AT(request, allow),                                                    \
         .help =                                                                                                       \
             "leave out an element or attribute that would be refused; mesh: collision meshes that are not found; "    \
             "repeatable"},                                                                                            \
    {                                                                                                                  \
        "strict", NULL, OPTION_FLAG, ROBOT_AT(request, strict), .help = "refuse whatever would only be ignored"        \
    }

sim_status robot_request_check(const robot_request *request, sim_error *error);
/* For the loader; points into the request. */
sim_import_options robot_import(const robot_request *request);

#endif
