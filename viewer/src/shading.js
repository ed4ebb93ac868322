// Shading of surfaces under one sun, in the terms of three.js' shaders: linear colours that the picture shows as sRGB, normals of
// scaled copies, and soft shadows.  What is set here holds for all materials, so it is set before the first is compiled.
//
// Normals: a copy with rotation R and scale s has n' ~ R S^-1 n; with M = R S, column k of M divided by s_k^2 is column k of R S^-1.
// Shadows: percentage-closer filtering (Reeves, Salesin and Cook 1987) over a disk of TAPS points on a Vogel spiral,
// r_k = sqrt((k + 1/2) / TAPS), theta_k = k * golden angle, turned by another angle at each pixel.  Where the nearest texels of all
// points agree, that is the answer: TAPS look-ups.  At the border of a shadow each point is the bilinear mean of four.  The place that
// is looked up is moved along the normal by NORMAL_TEXELS texels, so that a surface does not shade itself.
import { Color, ShaderChunk } from 'three';

const TAPS = 5;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5)); // rad
const DARKNESS = 0.72; // of a full shadow
const NORMAL_TEXELS = 1.5;

/** What three.js calls a colour is a linear one here; of a number or a triple in sRGB. */
export const linear = (srgb) => (Array.isArray(srgb) ? new Color().setRGB(...srgb) : new Color(srgb)).convertSRGBToLinear();

const NORMAL = `
#ifdef USE_INSTANCING
  mat3 placed = mat3(instanceMatrix);
  vec3 squares = vec3(dot(placed[0], placed[0]), dot(placed[1], placed[1]), dot(placed[2], placed[2]));
  vec3 transformedNormal = normalMatrix * (placed * (objectNormal / squares));
#else
  vec3 transformedNormal = normalMatrix * objectNormal;
#endif
`;

const SHADOW_POINT = `
#if defined(USE_SHADOWMAP) && NUM_DIR_LIGHT_SHADOWS > 0
  mat4 toMap = directionalShadowMatrix[0]; // to 0 .. 1
  float mapWidth = 1.0 / length(vec3(toMap[0].x, toMap[1].x, toMap[2].x));
  vec3 outward = normalize((vec4(transformedNormal, 0.0) * viewMatrix).xyz);
  vDirectionalShadowCoord[0] = toMap * (worldPosition + vec4(outward * (mapWidth * ${NORMAL_TEXELS.toFixed(1)} / SHADOW_MAP_SIZE), 0.0));
#endif
`;

const SHADOW = `
#if defined(USE_SHADOWMAP) && NUM_DIR_LIGHT_SHADOWS > 0
#define TAPS ${TAPS}
#define DARKNESS ${DARKNESS}
uniform sampler2D directionalShadowMap[1];
varying vec4 vDirectionalShadowCoord[1];

vec2 spiral(int k, float turn) {
  float angle = turn + float(k) * ${GOLDEN_ANGLE.toFixed(9)};
  return sqrt((float(k) + 0.5) / float(TAPS)) * vec2(cos(angle), sin(angle));
}

float litAt(sampler2D depths, vec2 at, float depth) {
  return step(depth, unpackRGBAToDepth(texture2D(depths, at)));
}

float litAround(sampler2D depths, vec2 size, vec2 at, float depth) {
  vec2 cell = at * size - 0.5;
  vec2 part = fract(cell);
  vec2 low = (floor(cell) + 0.5) / size, high = low + 1.0 / size;
  return mix(mix(litAt(depths, low, depth), litAt(depths, vec2(high.x, low.y), depth), part.x),
    mix(litAt(depths, vec2(low.x, high.y), depth), litAt(depths, high, depth), part.x), part.y);
}

float getShadow(sampler2D depths, vec2 size, float bias, float radius, vec4 coord) {
  vec3 at = coord.xyz / coord.w + vec3(0.0, 0.0, bias);
  if (any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float turn = PI2 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))); // Jimenez 2014
  float lit = 0.0;
  for (int k = 0; k < TAPS; k++) lit += litAt(depths, at.xy + spiral(k, turn) * radius / size, at.z);
  if (lit == 0.0 || lit == float(TAPS)) return mix(1.0, lit / float(TAPS), DARKNESS);
  lit = 0.0;
  for (int k = 0; k < TAPS; k++) lit += litAround(depths, size, at.xy + spiral(k, turn) * radius / size, at.z);
  return mix(1.0, lit / float(TAPS), DARKNESS);
}
#endif
`;

/** `size`: of the shadow map, in texels. */
export function shade(size) {
  Object.assign(ShaderChunk, {
    defaultnormal_vertex: `${NORMAL}\n#ifdef FLIP_SIDED\n  transformedNormal = -transformedNormal;\n#endif\n`,
    shadowmap_vertex: SHADOW_POINT.replace('SHADOW_MAP_SIZE', size.toFixed(1)),
    shadowmap_pars_fragment: SHADOW,
    encodings_fragment: 'gl_FragColor = LinearTosRGB(gl_FragColor);',
  });
}
