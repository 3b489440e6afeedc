// Where runs come from: the page carries one, and files can be dropped on it or chosen.

import { FileError } from "./archive.js";
import { byId } from "./page.js";
import { LARGEST_FILE } from "./trace.js";

/** The bytes of the run that the page carries; null if it carries none. */
export function bytesOfPage() {
  const text = byId("data").textContent.trim();
  return text === "" ? null : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Call open(bytes), with a promise of bytes, for every file that is dropped or chosen. */
export function bindFiles(open) {
  const take = ([file]) => file && open(bytesOf(file));
  byId("file").addEventListener("change", () => {
    take(byId("file").files);
    byId("file").value = ""; // so that the same file can be chosen again
  });
  byId("choose").addEventListener("click", () => byId("file").click());
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
}

async function bytesOf(file) {
  if (file.size > LARGEST_FILE) {
    throw new FileError(`${file.name} has ${file.size} bytes; this page reads up to ${LARGEST_FILE}`);
  }
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new FileError(`${file.name} cannot be read; it may be a folder`);
  }
}
