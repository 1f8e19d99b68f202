// Written by protoc-gen-contract 0.1.0. Do not edit.
// SHA-256 (FIPS 180-4), which error codes are taken of. Browsers have one of their own that is asynchronous.

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}

/** The first 32 bits of the fraction of a root: of the prime as an integer, so that no rounding matters. */
function fraction(prime: number, degree: 2n | 3n): number {
  const scaled = BigInt(prime) << (32n * degree);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= scaled) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}

let tables: readonly [round: readonly number[], start: readonly number[]] | undefined;

/** The digest of a text in UTF-8, as eight numbers of 32 bits. */
export function sha256(text: string): readonly number[] {
  tables ??= [primes(64).map((prime) => fraction(prime, 3n)), primes(8).map((prime) => fraction(prime, 2n))];
  const [round, start] = tables;
  const bytes = new TextEncoder().encode(text);
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setBigUint64(blocks.length - 8, BigInt(bytes.length) * 8n);
  const state = [...start];
  const words = new Uint32Array(64);
  const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
  for (let offset = 0; offset < blocks.length; offset += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) {
        words[i] = view.getUint32(offset + 4 * i);
        continue;
      }
      const early = words[i - 15]!;
      const late = words[i - 2]!;
      const mixed = (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
      words[i] = words[i - 16]! + words[i - 7]! + mixed;
    }
    let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + round[i]! + words[i]!;
      const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + second) >>> 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = (state[i]! + word) >>> 0;
    });
  }
  return state;
}
