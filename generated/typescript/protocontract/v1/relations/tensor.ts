// Written by protoc-gen-contract 0.1.0. Do not edit.
// The relation "tensor": element type, shape, and what the numbers of a tensor must keep. Bytes are little endian.

import { describe, refusal, type Refusal } from "../refusal.js";
import { elementsOf, INTEGERS, LARGEST, SIZES, type Dtype, type Element } from "./elements.js";
import { norm } from "./norm.js";

/** The options of one `tensor` relation, with what of them a message tells. */
export interface TensorOptions {
  readonly dtype?: Dtype;
  /** A number or a name for each axis; a name is free, and has one size wherever it recurs. */
  readonly dims?: readonly (number | string)[];
  readonly bounds?: { readonly [name: string]: readonly [least: number, most: number | undefined] };
  readonly finite?: true;
  readonly low?: Element;
  readonly high?: Element;
  readonly range?: string;
  readonly norm?: readonly [value: number, tolerance: number, told: string];
}

type Values = Uint8Array | readonly (number | bigint | boolean)[];
type Shape = readonly (number | bigint)[] | undefined;

/** Every broken promise; undefined where there is none. `sizes` are those of a message's names: it learns new ones. */
export type TensorChecker = (value: Values, shape: Shape, sizes: Map<string, bigint>) => Refusal[] | undefined;

/** The check with these options. */
export function tensorChecker(options: TensorOptions): TensorChecker {
  const { dtype } = options;
  return (value, shape, sizes) => {
    const found: Refusal[] = [];
    const content = contentOf(value, dtype);
    if (!Array.isArray(content)) return [content as Refusal];
    const [elements, misfit] = content as Content;
    if (misfit !== undefined) found.push(misfit);
    const axes = axesOf(options, BigInt(elements.length), shape, sizes);
    if (!Array.isArray(axes)) found.push(axes as Refusal);
    // What the dtype cannot hold has no value to compare.
    if (misfit === undefined || dtype === undefined) numbers(options, elements, axes, found);
    return found.length > 0 ? found : undefined;
  };
}

type Content = [elements: readonly Element[], misfit: Refusal | undefined];

function first(elements: readonly Element[], bad: (element: Element) => boolean): number | undefined {
  const at = elements.findIndex(bad);
  return at < 0 ? undefined : at;
}

function contentOf(value: Values, dtype: Dtype | undefined): Content | Refusal {
  if (Array.isArray(value)) {
    const elements = (value as readonly (number | bigint | boolean)[]).map((each) => (typeof each === "boolean" ? Number(each) : each));
    if (dtype === undefined) return [elements, undefined];
    const at = first(elements, (each) => !fits(each, dtype));
    return [elements, at === undefined ? undefined : refusal("tensor.dtype", `a number that ${dtype} does not have`, at)];
  }
  const bytes = value as Uint8Array;
  if (dtype === undefined) return refusal("tensor.dtype", `bytes without an element type, got ${describe(bytes)}`);
  const size = SIZES[dtype];
  if (bytes.length % size !== 0) {
    const wanted = `expected a multiple of ${size}, got ${bytes.length} bytes`;
    return refusal("tensor.size", `bytes that end inside an element; ${wanted}`);
  }
  const elements = elementsOf(bytes, dtype);
  const at = dtype === "bool" ? first(elements, (each) => each > 1) : undefined;
  if (at === undefined) return [elements, undefined];
  return [elements, refusal("tensor.dtype", "a byte that is no bool; expected 0 or 1", at)];
}

function fits(element: Element, dtype: Dtype): boolean {
  const whole = INTEGERS[dtype];
  if (whole !== undefined) {
    return (typeof element === "bigint" || Number.isInteger(element)) && whole[0] <= element && element <= whole[1];
  }
  if (typeof element === "number" && !Number.isFinite(element)) return true;
  return (element < 0 ? -element : element) <= LARGEST[dtype]!;
}

function numbers(options: TensorOptions, elements: readonly Element[], axes: bigint[] | Refusal, found: Refusal[]): void {
  const { finite, low, high, range, norm: wanted } = options;
  if (finite) {
    const at = first(elements, (each) => typeof each === "number" && !Number.isFinite(each));
    if (at !== undefined) {
      found.push(refusal("tensor.finite", "NaN or an infinity; expected finite numbers", at));
      return;
    }
  }
  if (low !== undefined && high !== undefined) {
    const at = first(elements, (each) => !(low <= each && each <= high));
    if (at !== undefined) found.push(refusal("tensor.range", `a number out of bounds; expected ${range}`, at));
  }
  if (wanted === undefined || !Array.isArray(axes)) return;
  const [value, tolerance, told] = wanted;
  const length = Number(axes.at(-1) ?? BigInt(elements.length));
  for (let row = 0; length > 0 && (row + 1) * length <= elements.length; row++) {
    const size = norm(elements.slice(row * length, (row + 1) * length));
    if (!(Math.abs(size - value) <= tolerance)) {
      found.push(refusal("tensor.norm", `a row of another length; expected ${told}`, row));
      return;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Axes: how an element count, a stated shape and known names determine the sizes

function axesOf(options: TensorOptions, count: bigint, shape: Shape, known: Map<string, bigint>): bigint[] | Refusal {
  const { dims = [], bounds = {} } = options;
  const sizes = shape === undefined ? solved(dims, count, known) : stated(dims, shape.map(BigInt), count);
  if (!Array.isArray(sizes)) return sizes;
  const learnt = new Map<string, bigint>();
  for (const [at, dim] of dims.entries()) {
    const size = sizes[at];
    if (typeof dim === "number" || size === undefined) continue;
    const held = learnt.get(dim) ?? known.get(dim) ?? size;
    learnt.set(dim, held);
    if (held !== size) {
      const wanted = `expected ${held} wherever it recurs, got ${size}`;
      return refusal("tensor.shape", `dim ${dim} has two sizes; ${wanted}`);
    }
    const [low, high] = bounds[dim] ?? [0, undefined];
    if (size < low || (high !== undefined && size > high)) {
      const wanted = high === undefined ? `at least ${low}` : `${low} to ${high}`;
      return refusal("tensor.shape", `dim ${dim} out of bounds; expected ${wanted}, got ${size}`);
    }
  }
  for (const [name, size] of learnt) known.set(name, size);
  return sizes;
}

const product = (sizes: readonly bigint[]): bigint => sizes.reduce((found, size) => found * size, 1n);

function stated(dims: readonly (number | string)[], sizes: bigint[], count: bigint): bigint[] | Refusal {
  if (sizes.some((size) => size < 0n)) {
    return refusal("tensor.shape", "a shape with a negative size; expected sizes from 0");
  }
  if (dims.length > 0 && sizes.length !== dims.length) {
    const wanted = `expected ${dims.length}, got ${sizes.length}`;
    return refusal("tensor.shape", `another number of axes; ${wanted}`);
  }
  for (const [at, dim] of dims.entries()) {
    if (typeof dim === "number" && sizes[at] !== BigInt(dim)) {
      return refusal("tensor.shape", `an axis of another size; expected ${dim}, got ${sizes[at]}`, at);
    }
  }
  if (product(sizes) === count) return sizes;
  return refusal("tensor.size", `not as many elements as the shape says; got ${count} elements`);
}

/** Sizes from the number of elements, where at most one name is unknown. */
function solved(dims: readonly (number | string)[], count: bigint, known: Map<string, bigint>): bigint[] | Refusal {
  if (dims.length === 0) return [count];
  const sizes = dims.map((dim) => (typeof dim === "number" ? BigInt(dim) : known.get(dim)));
  const of = product(sizes.filter((size) => size !== undefined));
  const free = dims.filter((_, at) => sizes[at] === undefined);
  if (free.length === 0) {
    if (of === count) return sizes as bigint[];
    // Which of the two is wrong, the axis or the count, cannot be told where a name is bound elsewhere.
    const rule = dims.some((dim) => typeof dim === "string") ? "tensor.shape" : "tensor.size";
    return refusal(rule, `another number of elements; expected ${of}, got ${count}`);
  }
  if (new Set(free).size > 1) {
    return refusal("tensor.shape", "two free dims and no stated shape: the sizes cannot be known");
  }
  let size = of !== 0n && count % of === 0n ? root(count / of, free.length) : undefined;
  if (of === 0n && count === 0n) size = 0n;
  if (size === undefined) {
    const wanted = `expected a multiple of ${of}, got ${count}`;
    return refusal("tensor.size", `a number of elements that fits no size of dim ${free[0]}; ${wanted}`);
  }
  return sizes.map((held) => held ?? size);
}

/** The integer whose power is `value`: a name that occurs several times is one size. */
function root(value: bigint, degree: number): bigint | undefined {
  const guess = degree === 1 ? value : BigInt(Math.round(Number(value) ** (1 / degree)));
  return [guess - 1n, guess, guess + 1n].find((candidate) => candidate >= 0n && candidate ** BigInt(degree) === value);
}
