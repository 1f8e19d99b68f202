// CEL's integers: 64 bits, an overflow is an error, division truncates towards zero.
import { fail } from "./logic.js";

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

const int = (value: bigint): bigint => (INT_MIN <= value && value <= INT_MAX ? value : fail("integer overflow"));
const uint = (value: bigint): bigint => (0n <= value && value <= UINT_MAX ? value : fail("integer overflow"));
const divisor = (value: bigint, what: string): bigint => (value === 0n ? fail(`${what} by zero`) : value);

export const addInt = (left: bigint, right: bigint): bigint => int(left + right);
export const subInt = (left: bigint, right: bigint): bigint => int(left - right);
export const mulInt = (left: bigint, right: bigint): bigint => int(left * right);
export const negInt = (value: bigint): bigint => int(-value);
export const divInt = (left: bigint, right: bigint): bigint => int(left / divisor(right, "divide"));

/** The sign is the dividend's; the smallest int has no remainder by -1, as it has no quotient. */
export function modInt(left: bigint, right: bigint): bigint {
  const by = divisor(right, "modulus");
  int(left / by);
  return left % by;
}

export const addUint = (left: bigint, right: bigint): bigint => uint(left + right);
export const subUint = (left: bigint, right: bigint): bigint => uint(left - right);
export const mulUint = (left: bigint, right: bigint): bigint => uint(left * right);
export const divUint = (left: bigint, right: bigint): bigint => left / divisor(right, "divide");
export const modUint = (left: bigint, right: bigint): bigint => left % divisor(right, "modulus");

/** `int(uint)`. */
export const intOfUint = (value: bigint): bigint => (value > INT_MAX ? fail("uint64 out of int64 range") : value);

/** `uint(int)`. */
export const uintOfInt = (value: bigint): bigint => (value < 0n ? fail("int64 out of uint64 range") : value);

/** `int(double)`: truncates; both limits of int64 are out of range, as no double is near them. */
export function intOfDouble(value: number): bigint {
  return -(2 ** 63) < value && value < 2 ** 63 ? BigInt(Math.trunc(value)) : fail("double out of int64 range");
}

/** `uint(double)`: truncates. */
export function uintOfDouble(value: number): bigint {
  return 0 <= value && value < 2 ** 64 ? BigInt(Math.trunc(value)) : fail("double out of uint64 range");
}

/** `bool(string)`. */
export function boolOfString(text: string): boolean {
  if (["true", "True", "TRUE", "t", "1"].includes(text)) return true;
  if (["false", "False", "FALSE", "f", "0"].includes(text)) return false;
  return fail("type conversion error from 'string' to 'bool'");
}

/** White space of ASCII at both ends is allowed. */
function digits(pattern: RegExp, text: string): bigint | undefined {
  const match = pattern.exec(text.replace(/^[ \t\n\v\f\r]+/, "").replace(/[ \t\n\v\f\r]+$/, ""));
  // More than 64 bits, and a BigInt of very long texts is slow.
  return match === null || match[0].replace(/^[+-]?0*/, "").length > 20 ? undefined : BigInt(match[0].replace("+", ""));
}

/** `int(string)`: decimal, a sign and surrounding white space allowed. */
export function intOfString(text: string): bigint {
  const value = digits(/^[+-]?[0-9]+$/, text);
  return value === undefined || value < INT_MIN || value > INT_MAX ? fail("cannot convert string to int") : value;
}

/** `uint(string)`: decimal, no minus sign. */
export function uintOfString(text: string): bigint {
  const value = digits(/^\+?[0-9]+$/, text);
  return value === undefined || value > UINT_MAX ? fail("cannot convert string to uint") : value;
}

/** `isInf`: of any sign, or of that of `sign`. */
export function isInf(value: number, sign: bigint): boolean {
  return (value === Infinity && sign >= 0n) || (value === -Infinity && sign <= 0n);
}
