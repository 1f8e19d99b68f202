// CEL's functions of texts: positions count code points.
import { fail } from "./logic.js";

// Unicode's White_Space, which no version changes.
const SPACE = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;

/** The code points of a text, within which a position lies. */
function points(text: string, ...positions: readonly bigint[]): string[] {
  const found = [...text];
  for (const position of positions) {
    if (position < 0n || position > BigInt(found.length)) fail("index out of range");
  }
  return found;
}

/** The position of a part among code points, at or after `from`; -1 where there is none. */
function find(text: readonly string[], part: readonly string[], from: number): bigint {
  for (let i = from; i + part.length <= text.length; i++) {
    if (part.every((point, k) => text[i + k] === point)) return BigInt(i);
  }
  return -1n;
}

/** The last position of a part at or before `from`. */
function findLast(text: readonly string[], part: readonly string[], from: number): bigint {
  for (let i = Math.min(from, text.length - part.length); i >= 0; i--) {
    if (part.every((point, k) => text[i + k] === point)) return BigInt(i);
  }
  return -1n;
}

/** `charAt`: empty at the end. */
export const charAt = (text: string, position: bigint): string => points(text, position)[Number(position)] ?? "";

export const indexOf = (text: string, part: string): bigint => find([...text], [...part], 0);

export function indexOfFrom(text: string, part: string, position: bigint): bigint {
  return find(points(text, position), [...part], Number(position));
}

export const lastIndexOf = (text: string, part: string): bigint => findLast([...text], [...part], Infinity);

export function lastIndexOfFrom(text: string, part: string, position: bigint): bigint {
  return findLast(points(text, position), [...part], Number(position));
}

export const join = (texts: readonly string[], separator: string): string => texts.join(separator);

export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

export const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

export const replace = (text: string, old: string, by: string): string => replaceLimit(text, old, by, -1n);

/** The first occurrences; a negative limit means all. An empty part stands before each code point and at the end. */
export function replaceLimit(text: string, old: string, by: string, limit: bigint): string {
  const most = limit < 0n ? Infinity : Number(limit);
  if (old === "") {
    const found = [...text];
    const parts = found.map((point, i) => (i < most ? by + point : point));
    return parts.join("") + (found.length < most ? by : "");
  }
  const parts = text.split(old);
  const done = Math.min(most, parts.length - 1);
  return parts.slice(0, done + 1).join(by) + parts.slice(done + 1).map((part) => old + part).join("");
}

export const reverse = (text: string): string => [...text].reverse().join("");

export const split = (text: string, separator: string): string[] => splitLimit(text, separator, -1n);

/** At most `limit` parts; negative means all, 0 none. An empty separator splits into code points. */
export function splitLimit(text: string, separator: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const parts = separator === "" && text !== "" ? [...text] : separator === "" ? [""] : text.split(separator);
  const most = limit < 0n || limit > BigInt(parts.length) ? parts.length : Number(limit);
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

/** The engine of protovalidate 2.1 refuses an end at the end of the text unless the start is there too. */
export function substring(text: string, start: bigint, end: bigint): string {
  const found = points(text, start, end);
  if (start > end || (end === BigInt(found.length) && start !== end)) fail("index out of range");
  return found.slice(Number(start), Number(end)).join("");
}

export const substringFrom = (text: string, start: bigint): string => points(text, start).slice(Number(start)).join("");

/** `trim`: Unicode white space. */
export function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text[start]!)) start++;
  while (end > start && SPACE.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** The UTF-8 of a text. */
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `size(bytes(text))`. */
export const utf8Size = (text: string): number => bytesOf(text).length;

/** `string(bytes)`: must be UTF-8. */
export function stringOfBytes(value: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return fail("malformed UTF-8 bytes");
  }
}
