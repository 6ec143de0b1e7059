// @ts-check
// Numbers of a program: base64 of little-endian numbers, as every browser keeps them.

/** @param {string} text @returns {ArrayBuffer} */
function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes.buffer;
}

/** @param {string} text @returns {Float64Array} */
export function floatsOf(text) {
  return new Float64Array(bytesOf(text));
}

/** @param {string} text @returns {Float32Array} */
export function singlesOf(text) {
  return new Float32Array(bytesOf(text));
}

/** @param {string} text @returns {Int32Array} */
export function wholesOf(text) {
  return new Int32Array(bytesOf(text));
}
