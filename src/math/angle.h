/* Constants of angles. */
#ifndef MATH_ANGLE_H
#define MATH_ANGLE_H

#define PI 3.14159265358979323846
#define RADIANS_PER_DEGREE (PI / 180)

#endif
