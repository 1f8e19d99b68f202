// Doubles as decimal texts, rounded half to even from their exact values, as C's printf does. JavaScript's own functions
// round halves up.

interface Exact {
  /** The value is digits / 10 ** scale. */
  readonly digits: bigint;
  readonly scale: number;
}

/** The exact value of a finite double's size. */
function exact(value: number): Exact {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & (2n ** 52n - 1n)) | (exponent === 0 ? 0n : 2n ** 52n);
  const power = Math.max(exponent, 1) - 1075;
  if (power >= 0) return { digits: mantissa << BigInt(power), scale: 0 };
  return { digits: mantissa * 5n ** BigInt(-power), scale: -power };
}

/** digits / 10 ** places, rounded half to even. */
function rounded(digits: bigint, places: number): bigint {
  if (places <= 0) return digits * 10n ** BigInt(-places);
  const unit = 10n ** BigInt(places);
  const rest = digits % unit;
  const whole = digits / unit;
  return rest * 2n > unit || (rest * 2n === unit && whole % 2n === 1n) ? whole + 1n : whole;
}

const sign = (value: number): string => (value < 0 || Object.is(value, -0) ? "-" : "");

/** C's `%.<precision>f` of a finite number. */
export function fixed(value: number, precision: number): string {
  const { digits, scale } = exact(value);
  const text = String(rounded(digits, scale - precision)).padStart(precision + 1, "0");
  const point = text.length - precision;
  return sign(value) + (precision === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`);
}

/** The significant digits of a number, `count` of them, and its decimal exponent. */
function significant(value: number, count: number): [digits: string, exponent: number] {
  const { digits, scale } = exact(value);
  if (digits === 0n) return ["0".repeat(count), 0];
  const drop = String(digits).length - count;
  const text = String(rounded(digits, drop));
  // Rounding may have added a digit: 9.99 is 10.0.
  return [text.slice(0, count), text.length - 1 + drop - scale];
}

function scientific(value: number, digits: string, exponent: number): string {
  const power = `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  return sign(value) + digits[0]! + (digits.length > 1 ? `.${digits.slice(1)}` : "") + power;
}

/** C's `%.<precision>e` of a finite number. */
export function exponential(value: number, precision: number): string {
  const [digits, exponent] = significant(value, precision + 1);
  return scientific(value, digits, exponent);
}

/** C's `%.<precision>g` of a finite number: the shorter form, without zeros at the end. */
export function general(value: number, precision: number): string {
  const [digits, exponent] = significant(value, precision);
  const short = digits.replace(/0+$/, "") || "0";
  if (exponent < -4 || exponent >= precision) return scientific(value, short, exponent);
  if (exponent < 0) return `${sign(value)}0.${"0".repeat(-exponent - 1)}${short}`;
  const whole = short.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const rest = short.slice(exponent + 1);
  return sign(value) + whole + (rest === "" ? "" : `.${rest}`);
}
