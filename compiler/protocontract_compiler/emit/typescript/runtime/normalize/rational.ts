// Exact fractions.

/** n / d in lowest terms, d > 0. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

/** The fraction n / d. */
export function rational(n: bigint, d: bigint): Rational {
  let [a, b] = [n < 0n ? -n : n, d < 0n ? -d : d];
  while (b > 0n) {
    [a, b] = [b, a % b];
  }
  const divisor = (a === 0n ? 1n : a) * (d < 0n ? -1n : 1n);
  return { n: n / divisor, d: d / divisor };
}

export function plus(one: Rational, other: Rational): Rational {
  return rational(one.n * other.d + other.n * one.d, one.d * other.d);
}

export function times(one: Rational, other: Rational): Rational {
  return rational(one.n * other.n, one.d * other.d);
}

/** The nearest integer, half to even. */
export function rounded({ n, d }: Rational): bigint {
  const rest = ((n % d) + d) % d;
  const floor = (n - rest) / d;
  const up = rest * 2n > d || (rest * 2n === d && floor % 2n !== 0n);
  return up ? floor + 1n : floor;
}
