// Canvases in device pixels, and the shapes that are drawn on them.

const TAU = 2 * Math.PI;

/** Make a canvas as large as it appears, in device pixels, and its context count in CSS pixels. */
export function prepareCanvas(canvas) {
  const density = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(Math.round(width * density), 1);
  canvas.height = Math.max(Math.round(height * density), 1);
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  return { context, width, height, density };
}

export function disc(path, x, y, radius) {
  path.moveTo(x + radius, y);
  path.arc(x, y, radius, 0, TAU);
}

export function ring(path, x, y, radius) {
  disc(path, x, y, radius);
  path.moveTo(x + radius * 0.45, y);
  path.arc(x, y, radius * 0.45, 0, TAU, true); // the other way round: a hole
}

export function square(path, x, y, radius) {
  path.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
}

export function diamond(path, x, y, radius) {
  path.moveTo(x, y - radius);
  path.lineTo(x + radius, y);
  path.lineTo(x, y + radius);
  path.lineTo(x - radius, y);
  path.closePath();
}

/** A triangle that points up. */
export function triangle(path, x, y, radius) {
  path.moveTo(x, y - radius);
  path.lineTo(x + radius * 0.87, y + radius / 2);
  path.lineTo(x - radius * 0.87, y + radius / 2);
  path.closePath();
}

/** A line from one place to `gap` pixels before another, with a head of so many pixels at its end. */
export function arrow(path, x0, y0, x1, y1, gap, head) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const [x, y] = [x1 - gap * Math.cos(angle), y1 - gap * Math.sin(angle)];
  path.moveTo(x0, y0);
  path.lineTo(x, y);
  for (const side of [angle - 0.5, angle + 0.5]) {
    path.moveTo(x, y);
    path.lineTo(x - head * Math.cos(side), y - head * Math.sin(side));
  }
}
