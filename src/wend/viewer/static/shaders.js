// What runs on the graphics card. Places are in cells, `origin` and `scale` in device pixels; y points down.

/** One triangle over the whole stage; what is off the map stays empty. */
export const GROUND_VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

export const GROUND_PIXEL = `#version 300 es
precision highp float;
precision highp usampler2D;
uniform usampler2D cells;
uniform usampler2D heat;
uniform vec2 size;
uniform vec2 stage;
uniform vec2 origin;
uniform float scale;
uniform vec4 classes[4];
uniform vec4 line;
uniform vec4 warm;
uniform vec4 hot;
uniform bool gridded;
uniform bool heated;
out vec4 colour;

vec3 ground(vec2 place) {
  ivec2 cell = ivec2(clamp(place, vec2(0.0), size - 1.0));
  vec3 found = classes[min(texelFetch(cells, cell, 0).r, 3u)].rgb;
  if (heated) {
    float value = float(texelFetch(heat, cell, 0).r) / 255.0;
    if (value > 0.0) found = mix(found, mix(warm.rgb, hot.rgb, value), 0.25 + 0.6 * value);
  }
  return found;
}

void main() {
  vec2 pixel = vec2(gl_FragCoord.x, stage.y - gl_FragCoord.y);
  vec2 place = (pixel - origin) / scale;
  if (any(lessThan(place, vec2(0.0))) || any(greaterThanEqual(place, size))) discard;
  vec3 found = ground(place);
  if (scale < 1.0) { // several cells in a pixel: the mean of four of them
    vec2 step = vec2(0.5 / scale, 0.0);
    found = (found + ground(place + step.xy) + ground(place + step.yx) + ground(place + step.xx)) / 4.0;
  }
  vec2 inside = pixel - origin - floor(place) * scale;
  if (gridded && min(inside.x, inside.y) < 1.0) found = mix(found, line.rgb, line.a);
  colour = vec4(found, 1.0);
}`;

/** One square per unit. It glides from the cell before to the cell after. */
export const UNIT_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in uvec2 before;
layout(location = 1) in uvec2 after;
layout(location = 2) in uint flags;
layout(location = 3) in uint group;
layout(location = 4) in uint chosen;
uniform vec2 stage;
uniform vec2 origin;
uniform float scale;
uniform float radius;
uniform float phase;
uniform vec4 states[7];
uniform vec4 hues[24];
uniform bool hued;
flat out vec4 body;
flat out uint look;
flat out uint ringed;
out vec2 at;

void main() {
  uint state = flags & 7u;
  vec2 glide = vec2(after) - vec2(before);
  if (max(abs(glide.x), abs(glide.y)) > 4.0) glide = vec2(0.0);
  vec2 middle = vec2(after) + 0.5 - glide * (1.0 - phase);
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  at = corner * (radius + 5.0);
  vec2 pixel = origin + middle * scale + at;
  gl_Position = vec4(pixel / stage * 2.0 - 1.0, 0.0, 1.0);
  gl_Position.y = -gl_Position.y;
  if (state == 4u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // removed: outside of everything
  int hue = int(group) > 0 ? int(group) : gl_InstanceID;
  body = hued ? hues[hue % 24] : states[min(state, 6u)];
  look = flags;
  ringed = chosen;
}`;

/** A disc moves, a ring waits, a square is at its goal, a cross is stuck; marks for what is special about a unit. */
export const UNIT_PIXEL = `#version 300 es
precision highp float;
uniform float radius;
uniform vec4 outline;
uniform vec4 halo;
flat in vec4 body;
flat in uint look;
flat in uint ringed;
in vec2 at;
out vec4 colour;

float square(vec2 p, float half_side) { return max(abs(p.x), abs(p.y)) - half_side; }

float shape(uint state) {
  float r = length(at);
  if (state == 1u) return max(r - radius, radius * 0.45 - r);
  if (state == 2u || state == 6u) return square(at, radius * 0.86);
  if (state == 3u) {
    vec2 turned = abs(vec2(at.x + at.y, at.x - at.y)) * 0.7071;
    return max(min(turned.x, turned.y) - radius * 0.32, max(turned.x, turned.y) - radius * 1.05);
  }
  return r - radius;
}

void main() {
  float distance = radius < 3.0 ? square(at, radius) : shape(look & 7u);
  float cover = clamp(0.5 - distance, 0.0, 1.0);
  vec4 found = vec4(body.rgb, 1.0) * cover;
  float r = length(at);
  if (radius >= 5.0) {
    if ((look & 16u) != 0u) found = mix(found, vec4(outline.rgb, 1.0), clamp(0.5 - (r - radius * 0.28), 0.0, 1.0)); // pinned
    if ((look & 8u) != 0u) { // followed
      found = mix(found, vec4(outline.rgb, 1.0), clamp(0.5 - abs(r - radius * 0.62) + radius * 0.08, 0.0, 1.0));
    }
  }
  if ((look & 32u) != 0u && mod(at.x + at.y, 4.0) < 2.0) found *= 0.35; // moved by a program: hatched
  if (ringed != 0u) {
    float ring = abs(r - radius - 2.5);
    vec4 around = vec4(halo.rgb, 1.0) * clamp(2.5 - ring, 0.0, 1.0) * 0.8;
    found = mix(around, found, found.a);
    found = mix(found, vec4(outline.rgb, 1.0), clamp(1.5 - ring, 0.0, 1.0));
  }
  if (found.a == 0.0) discard;
  colour = found;
}`;
