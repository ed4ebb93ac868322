/* Solids that interlock, as outlines extruded along z: involute gears, racks, ratchets with their pawls, dovetails.
 *
 * Two of them with parallel axes, each of which reaches past the other's middle, are as far apart as their outlines are
 * in the plane. */
#ifndef ORACLE_TEETH_H
#define ORACLE_TEETH_H

#include "vec.h"
#include <sim/geometry.h>

enum { OUTLINE_CORNERS = 640 };

/* A closed polygon in the plane, anticlockwise, m. */
typedef struct outline {
    int count;
    double at[OUTLINE_CORNERS][2];
} outline;

/* Spur gear: `flank` chords on each involute, from the base circle (a radial line below it) to the addendum circle of
 * one module; dedendum 1.25 modules, pressure angle 20 degrees.  Teeth are thinner by `backlash` along the pitch
 * circle.  A tooth stands on the x axis. */
outline gear_outline(int teeth, double module, int flank, double backlash);
/* The rack that such gears run on: teeth along x, pitch line y = 0, teeth up, a tooth on the y axis; flat below. */
outline rack_outline(int teeth, double module, double backlash);
/* Saw teeth: steep faces lean back by `undercut` (rad), the others rise in a straight line. */
outline ratchet_outline(int teeth, double radius, double height, double undercut);
/* Its pawl: an arm along x with a hook at x = 0 that reaches down by `height`, the steep face towards +x. */
outline pawl_outline(double length, double height, double undercut);
/* A tail along z on a plate (flared by `flare`, rad, tail up), and the block with the socket for it (opening down),
 * wider by `play` on every face.  Pushed straight together they would meet; they slide along z, and lie in place where
 * both poses are the same. */
outline tail_outline(double width, double height, double flare);
outline socket_outline(double width, double height, double flare, double play);

/* The mesh between z = -width / 2 and width / 2.  `bore`: radius of a hole along z, of what is seen whole from z; 0:
 * none; FAN: none, and its ends fan out from the axis, as files of gears have them, with triangles without height along
 * radii. `single`: coordinates rounded to single precision, as STL files keep them; the outline is rounded too. */
#define FAN (-1.0)
sim_geometry *prism_mesh(outline *o, double width, double bore, int single);

/* Where an outline stands. */
typedef struct placed {
    const outline *outline;
    real turn, x, y;
} placed;

/* Distance of two outlines, and the way that A would move off; 0 where they cross or one holds the other. */
real outlines_gap(const placed *a, const placed *b, real normal[2]);

#endif
