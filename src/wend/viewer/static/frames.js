// The binary frames of the live protocol, version 1 (docs/formats/live.md). Their bytes are looked at, never copied.

export const PROTOCOL = 1;
export const MAP_FRAME = 1;
export const FULL_FRAME = 2;
export const MOVES_FRAME = 3;
export const OVERLAY_FRAME = 4;
export const CELLS_FRAME = 5;

const HEADER_BYTES = 20;
const CHANGE_BYTES = 8; // of a unit's flags, or of a cell: u32 which, u8 what it is now

/** How many bytes follow the header of a frame. */
const BODY_BYTES = {
  [MAP_FRAME]: (count) => count,
  [FULL_FRAME]: (count) => 8 * count,
  [MOVES_FRAME]: (count, changes) => Math.ceil(count / 2) + CHANGE_BYTES * changes,
  [OVERLAY_FRAME]: (count) => count,
  [CELLS_FRAME]: (count) => CHANGE_BYTES * count,
};

/** A message as a frame; an error if it is none. */
export function readFrame(buffer) {
  if (buffer.byteLength < HEADER_BYTES) throw new RangeError(`a frame of ${buffer.byteLength} bytes has no header`);
  const view = new DataView(buffer);
  const frame = {
    kind: view.getUint8(0),
    pane: view.getUint8(1),
    scene: view.getUint16(2, true),
    number: view.getUint32(4, true),
    tick: view.getUint32(8, true),
    count: view.getUint32(12, true),
    extra: view.getUint32(16, true),
    peak: view.getFloat32(16, true), // of an overlay: the value that 255 stands for
    bytes: new Uint8Array(buffer, HEADER_BYTES),
  };
  const expected = BODY_BYTES[frame.kind]?.(frame.count, frame.extra);
  if (expected === undefined) throw new RangeError(`a frame of the unknown kind ${frame.kind}`);
  if (frame.bytes.length !== expected) {
    throw new RangeError(`a frame of kind ${frame.kind} with ${frame.bytes.length} bytes instead of ${expected}`);
  }
  return frame;
}

/** The move codes of a moves frame, unit by unit. */
export const moveCode = (frame, unit) => (frame.bytes[unit >> 1] >> (4 * (unit & 1))) & 15;

/** The changes of flags in a moves frame, as pairs of unit and flags. */
export const flagChanges = (frame) => changes(frame.bytes, Math.ceil(frame.count / 2), frame.extra);

/** The cells of a cells frame, as pairs of cell and class. */
export const cellChanges = (frame) => changes(frame.bytes, 0, frame.count);

function* changes(bytes, first, count) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = first; at < first + CHANGE_BYTES * count; at += CHANGE_BYTES) {
    yield [view.getUint32(at, true), view.getUint8(at + 4)];
  }
}
