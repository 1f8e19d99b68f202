// Written by protoc-gen-contract 0.1.0. Do not edit.
// Texts as Python sees them: code points, not UTF-16 code units.

/** The number of code points. */
export function size(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if (isPair(text, i)) {
      count--;
      i++;
    }
  }
  return count;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

/** Whether every surrogate has its partner: what is not well formed has no UTF-8. */
export function isWellFormed(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xf800) !== 0xd800) continue;
    if (!isPair(text, i)) return false;
    i++;
  }
  return true;
}

/** The order of texts by code points: UTF-16 puts U+FF5E behind U+1F600. */
export function compareText(left: string, right: string): number {
  const common = Math.min(left.length, right.length);
  for (let i = 0; i < common; i++) {
    const one = left.charCodeAt(i);
    const two = right.charCodeAt(i);
    if (one !== two) return rank(one) - rank(two);
  }
  return left.length - right.length;
}

/** A code unit's place among code points: surrogates stand for those beyond all others. */
function rank(unit: number): number {
  return (unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit;
}

/** The keys of a map in the order of its key type: numbers by value, false before true, texts by code points. */
export function sortedKeys(map: object, kind: "number" | "bool" | "string"): string[] {
  const keys = Object.keys(map);
  if (kind === "number") return keys.sort((left, right) => (BigInt(left) < BigInt(right) ? -1 : 1));
  return keys.sort(compareText);
}
