// Cells and numbers. A cell is y * width + x, as in the library.

export const rowOf = (cell, width) => Math.floor(cell / width);
export const columnOf = (cell, width) => cell - rowOf(cell, width) * width;
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
