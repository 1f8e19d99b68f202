// Written by protoc-gen-contract 0.1.0. Do not edit.
// The elements of a tensor in bytes.

/** A number; a bigint where it has 64 bits. */
export type Element = number | bigint;

export type Dtype =
  | "bool" | "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64"
  | "float16" | "bfloat16" | "float32" | "float64";

/** Bytes of one element. */
export const SIZES: Readonly<Record<Dtype, number>> = {
  bool: 1, int8: 1, int16: 2, int32: 4, int64: 8, uint8: 1, uint16: 2, uint32: 4, uint64: 8,
  float16: 2, bfloat16: 2, float32: 4, float64: 8,
};

/** The bounds of integers. */
export const INTEGERS: Readonly<Partial<Record<Dtype, readonly [Element, Element]>>> = {
  bool: [0, 1],
  int8: [-(2 ** 7), 2 ** 7 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0, 2 ** 8 - 1],
  uint16: [0, 2 ** 16 - 1],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0n, 2n ** 64n - 1n],
};

/** The largest finite value of floats. */
export const LARGEST: Readonly<Partial<Record<Dtype, number>>> = {
  float16: 65504,
  bfloat16: (2 - 2 ** -7) * 2 ** 127,
  float32: (2 - 2 ** -23) * 2 ** 127,
  float64: Number.MAX_VALUE,
};

/** IEEE 754 binary16. */
function half(bits: number): number {
  const size = bits & 0x7fff;
  const exponent = size >> 10;
  const fraction = size & 0x3ff;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

function reader(view: DataView, dtype: Dtype): (at: number) => Element {
  switch (dtype) {
    case "bool":
    case "uint8":
      return (at) => view.getUint8(at);
    case "int8":
      return (at) => view.getInt8(at);
    case "int16":
      return (at) => view.getInt16(at, true);
    case "uint16":
      return (at) => view.getUint16(at, true);
    case "int32":
      return (at) => view.getInt32(at, true);
    case "uint32":
      return (at) => view.getUint32(at, true);
    case "int64":
      return (at) => view.getBigInt64(at, true);
    case "uint64":
      return (at) => view.getBigUint64(at, true);
    case "float16":
      return (at) => half(view.getUint16(at, true));
    case "float32":
      return (at) => view.getFloat32(at, true);
    case "float64":
      return (at) => view.getFloat64(at, true);
    case "bfloat16": {
      // The upper half of a float32.
      const whole = new DataView(new ArrayBuffer(4));
      return (at) => {
        whole.setUint16(2, view.getUint16(at, true), true);
        return whole.getFloat32(0, true);
      };
    }
  }
}

/** The elements of bytes whose length is a multiple of an element's. */
export function elementsOf(bytes: Uint8Array, dtype: Dtype): Element[] {
  const size = SIZES[dtype];
  const read = reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), dtype);
  return Array.from({ length: bytes.length / size }, (_, at) => read(at * size));
}
