// Zip files, as far as traces need them: entries that are stored or deflated, no encryption, below 4 GiB.
//
// A file may come from a stranger: every place is checked before it is read, and nothing unpacks to more than allowed.

export class FileError extends Error {} // what is wrong with a file, in words for whoever opened it

const END = 0x06054b50; // the signatures of the parts of a zip
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22; // the sizes of these parts, without names and comments
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const LONGEST_COMMENT = 0xffff;
const [STORED, DEFLATED] = [0, 8];

/** The entries of a zip, by name: { name, method, checksum, size, packed }, with `packed` as its bytes in the file. */
export function entriesOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return readEntries(bytes, view);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // a place behind the end of the file
    throw new FileError("the zip is damaged: a part of it is missing");
  }
}

function readEntries(bytes, view) {
  const end = findEnd(view);
  const entries = new Map();
  for (let i = 0, at = view.getUint32(end + 16, true); i < view.getUint16(end + 10, true); i += 1) {
    if (view.getUint32(at, true) !== ENTRY) throw new FileError("the zip is damaged: its list of entries is wrong");
    const [name, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const entry = {
      name: new TextDecoder().decode(bytes.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + name)),
      method: view.getUint16(at + 10, true),
      checksum: view.getUint32(at + 16, true),
      size: view.getUint32(at + 24, true),
    };
    const isEncrypted = view.getUint16(at + 8, true) & 1;
    if (isEncrypted) throw new FileError(`${entry.name} is encrypted`);
    entry.packed = packedBytes(bytes, view, view.getUint32(at + 42, true), view.getUint32(at + 20, true));
    entries.set(entry.name, entry);
    at += ENTRY_BYTES + name + extra + comment;
  }
  return entries;
}

/** Where the last part of the zip begins: the one that says where the list of entries is. */
function findEnd(view) {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(last - LONGEST_COMMENT, 0); at -= 1) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw new FileError("it is no zip file, as runs of Wend are, or its end is missing");
}

function packedBytes(bytes, view, at, size) {
  if (view.getUint32(at, true) !== LOCAL) throw new FileError("the zip is damaged: an entry is not where it should be");
  const begin = at + LOCAL_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (begin + size > bytes.length) throw new RangeError();
  return bytes.subarray(begin, begin + size);
}

/** The bytes of an entry, which must be at most so many. */
export async function unpack(entry, atMost) {
  const { name, method, size, packed, checksum } = entry;
  if (size > atMost) throw new FileError(`${name} unpacks to ${size} bytes, over the limit of ${atMost}`);
  if (method !== STORED && method !== DEFLATED) throw new FileError(`${name} is packed by a method other than deflate`);
  const bytes = method === STORED ? packed.slice() : await inflate(entry);
  if (bytes.length !== size) throw new FileError(`${name} holds ${bytes.length} bytes where the zip says ${size}`);
  if (checksumOf(bytes) !== checksum) throw new FileError(`${name} is damaged: its checksum is wrong`);
  return bytes;
}

async function inflate({ name, size, packed }) {
  const bytes = new Uint8Array(size);
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (let at = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return bytes.subarray(0, at);
      bytes.set(value, at); // a RangeError if there is more than the zip says
      at += value.length;
    }
  } catch {
    throw new FileError(`${name} is damaged: it cannot be unpacked`);
  }
}

const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/** CRC-32. */
function checksumOf(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = CHECKSUMS[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
