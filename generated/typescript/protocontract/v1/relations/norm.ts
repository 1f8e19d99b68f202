// Written by protoc-gen-contract 0.1.0. Do not edit.
// The L2 norm of a row, rounded once at the end as far as doubles allow.

import type { Element } from "./elements.js";

/** The sum of doubles that are not negative, rounded once, half to even (Shewchuk's partial sums). */
function exactSum(terms: readonly number[]): number {
  if (terms.some((term) => !Number.isFinite(term))) return terms.some(Number.isNaN) ? NaN : Infinity;
  const partials: number[] = [];
  for (let term of terms) {
    let kept = 0;
    for (let partial of partials) {
      if (Math.abs(term) < Math.abs(partial)) [term, partial] = [partial, term];
      const high = term + partial;
      const low = partial - (high - term);
      if (low !== 0) partials[kept++] = low;
      term = high;
    }
    if (!Number.isFinite(term)) return Infinity;
    partials.length = kept;
    partials.push(term);
  }
  let place = partials.length - 1;
  let sum = place < 0 ? 0 : partials[place]!;
  let rest = 0;
  while (place > 0) {
    const before = sum;
    const next = partials[--place]!;
    sum = before + next;
    rest = next - (sum - before);
    if (rest !== 0) break;
  }
  // Half-way cases go to even, which the terms below may tip.
  const below = place > 0 ? partials[place - 1]! : 0;
  if ((rest < 0 && below < 0) || (rest > 0 && below > 0)) {
    const doubled = rest * 2;
    const moved = sum + doubled;
    if (doubled === moved - sum) sum = moved;
  }
  return sum;
}

/** The norm; infinite or NaN where an element is. */
export function norm(row: readonly Element[]): number {
  // A square of a bigint is exact until it is a double.
  const squares = row.map((element) => (typeof element === "bigint" ? Number(element * element) : element * element));
  const total = Math.sqrt(exactSum(squares));
  if ((1e-140 < total && total < 1e140) || Number.isNaN(total) || row.length === 0) return total;
  const sizes = row.map((element) => Math.abs(Number(element)));
  const largest = Math.max(...sizes);
  if (largest === 0 || !Number.isFinite(largest)) return largest;
  // Squares left the range of doubles: scale by the largest element.
  return largest * Math.sqrt(exactSum(sizes.map((size) => (size / largest) ** 2)));
}
