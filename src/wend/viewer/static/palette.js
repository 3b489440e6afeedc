// The colours of theme.css, for what is drawn by script.

export const HUES = 24; // colours that tell agents apart

/** The page's colours of now, which follow the colour scheme. */
export function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const hue = (i) => `hsl(${Math.round((i * 137.508) % 360)} ${colour("hue-tail")})`; // neighbours differ most
  return {
    cells: [colour("floor"), colour("wall"), colour("opened"), colour("closed")],
    states: [colour("moving"), colour("waiting"), colour("home")],
    hues: Array.from({ length: HUES }, (_, i) => hue(i)),
    spread: colour("spread"),
    planning: colour("curve-4"),
    expansions: colour("curve-8"),
    bad: colour("bad"),
    accent: colour("accent"),
    units: ["moving", "waiting", "home", "bad", "line", "spread", "warning"].map(colour), // by state of a live unit
    curves: [colour("curve-1"), colour("curve-2")], // of two panes
    warm: colour("warm"),
    hot: colour("hot"),
    grid: colour("grid"),
    line: colour("line"),
    outline: colour("outline"),
    halo: colour("halo"),
    text: colour("text"),
  };
}

/** Colours as the numbers that stand for them in an ImageData, found by painting them. */
export function toPixels(colours) {
  const canvas = document.createElement("canvas");
  canvas.width = colours.length;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  colours.forEach((colour, i) => {
    context.fillStyle = colour;
    context.fillRect(i, 0, 1, 1);
  });
  return new Uint32Array(context.getImageData(0, 0, colours.length, 1).data.buffer);
}
