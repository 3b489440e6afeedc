// Paints ground, heat and units with WebGL2: the map is one texture, all units are one instanced draw.

import { clamp } from "./geometry.js";
import { toPixels } from "./palette.js";
import { GROUND_PIXEL, GROUND_VERTEX, UNIT_PIXEL, UNIT_VERTEX } from "./shaders.js";
import { FLAGS_AT, RECORD_BYTES } from "./units.js";

const SMALLEST_GRID = 10; // pixels per cell from which on lines between the cells help

/** A painter for a canvas; null where the browser has no WebGL2 (any more), or only in software, which is slower than a
 * plain canvas. `acceptsSoftware` takes that too. */
export function createGlPainter(canvas, acceptsSoftware) {
  const wishes = { antialias: false, depth: false, failIfMajorPerformanceCaveat: !acceptsSoftware };
  const gl = canvas.getContext("webgl2", wishes);
  if (gl === null || gl.isContextLost() || (!acceptsSoftware && isSoftware(gl))) return null;
  return new GlPainter(canvas, gl);
}

/** Browsers do not always call software a caveat, but it has a name. */
function isSoftware(gl) {
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software/i.test(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

class GlPainter {
  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    this.ground = program(gl, GROUND_VERTEX, GROUND_PIXEL);
    this.bodies = program(gl, UNIT_VERTEX, UNIT_PIXEL);
    this.cells = texture(gl);
    this.heat = texture(gl);
    this.heated = false;
    this.empty = gl.createVertexArray(); // the ground has no vertices of its own
    this.array = gl.createVertexArray();
    [this.before, this.after, this.chosen] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    this.version = this.chosenVersion = -1;
    this.count = this.chosenCount = 0;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  setMap(width, height, classes) {
    this.size = [width, height];
    this.upload(this.cells, classes);
    this.setHeat(null);
  }

  setHeat(values) {
    this.heated = values !== null;
    this.upload(this.heat, values ?? new Uint8Array(this.size[0] * this.size[1]));
  }

  upload(into, bytes) {
    const { gl, size } = this;
    gl.bindTexture(gl.TEXTURE_2D, into);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8UI, ...size, 0, gl.RED_INTEGER, gl.UNSIGNED_BYTE, bytes);
  }

  recolour(colours) {
    const { gl } = this;
    const vectors = (names) => Float32Array.from(new Uint8Array(toPixels(names).buffer), (byte) => byte / 255);
    const set = (into, name, names) => gl.uniform4fv(into.at(name), vectors(names));
    gl.useProgram(this.ground.program);
    set(this.ground, "classes", colours.cells);
    set(this.ground, "line", [colours.grid]);
    set(this.ground, "warm", [colours.warm]);
    set(this.ground, "hot", [colours.hot]);
    gl.useProgram(this.bodies.program);
    set(this.bodies, "states", colours.units);
    set(this.bodies, "hues", colours.hues);
    set(this.bodies, "outline", [colours.outline]);
    set(this.bodies, "halo", [colours.halo]);
  }

  /** Bring the bytes of the units to the card, if there are new ones. */
  load(units, selection) {
    const { gl } = this;
    if (units.version !== this.version) {
      fill(gl, this.before, units.before);
      fill(gl, this.after, units.after);
      [this.version, this.count] = [units.version, units.count];
    }
    if (selection.version !== this.chosenVersion || units.count !== this.chosenCount) {
      fill(gl, this.chosen, selection.bytesFor(units.count));
      [this.chosenVersion, this.chosenCount] = [selection.version, units.count];
    }
  }

  draw({ camera, units, selection, phase, hued, radius }) {
    const { gl, canvas } = this;
    const { density } = camera;
    const place = { origin: [camera.left * density, camera.top * density], stage: [canvas.width, canvas.height] };
    this.load(units, selection);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.drawGround(place, camera.scale * density, camera.scale >= SMALLEST_GRID);
    this.drawUnits(place, camera.scale * density, phase, hued, clamp(radius * density, 1.5, 60));
  }

  drawGround({ origin, stage }, scale, gridded) {
    const { gl, ground } = this;
    gl.useProgram(ground.program);
    gl.bindVertexArray(this.empty);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.heat);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.cells);
    gl.uniform1i(ground.at("cells"), 0);
    gl.uniform1i(ground.at("heat"), 1);
    gl.uniform2f(ground.at("size"), ...this.size);
    gl.uniform2f(ground.at("stage"), ...stage);
    gl.uniform2f(ground.at("origin"), ...origin);
    gl.uniform1f(ground.at("scale"), scale);
    gl.uniform1i(ground.at("gridded"), gridded);
    gl.uniform1i(ground.at("heated"), this.heated);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  drawUnits({ origin, stage }, scale, phase, hued, radius) {
    const { gl, bodies } = this;
    gl.useProgram(bodies.program);
    gl.bindVertexArray(this.array);
    this.point(0, this.before, 2, gl.UNSIGNED_SHORT, RECORD_BYTES, 0);
    this.point(1, this.after, 2, gl.UNSIGNED_SHORT, RECORD_BYTES, 0);
    this.point(2, this.after, 1, gl.UNSIGNED_BYTE, RECORD_BYTES, FLAGS_AT);
    this.point(3, this.after, 1, gl.UNSIGNED_SHORT, RECORD_BYTES, 6);
    this.point(4, this.chosen, 1, gl.UNSIGNED_BYTE, 1, 0);
    gl.uniform2f(bodies.at("stage"), ...stage);
    gl.uniform2f(bodies.at("origin"), ...origin);
    gl.uniform1f(bodies.at("scale"), scale);
    gl.uniform1f(bodies.at("radius"), radius);
    gl.uniform1f(bodies.at("phase"), phase);
    gl.uniform1i(bodies.at("hued"), hued);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
  }

  /** Point an attribute of the units at its bytes. */
  point(location, buffer, size, kind, stride, offset) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribIPointer(location, size, kind, stride, offset);
    gl.vertexAttribDivisor(location, 1);
  }
}

function fill(gl, buffer, bytes) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STREAM_DRAW);
}

function texture(gl) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  return made;
}

/** A program, and where its uniforms are. */
function program(gl, vertex, pixel) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, pixel]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    const shaders = gl.getAttachedShaders(made).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`a shader does not compile: ${[gl.getProgramInfoLog(made), ...shaders].join(" ")}`);
  }
  const places = new Map();
  const at = (name) => {
    if (!places.has(name)) places.set(name, gl.getUniformLocation(made, name));
    return places.get(name);
  };
  return { program: made, at };
}
