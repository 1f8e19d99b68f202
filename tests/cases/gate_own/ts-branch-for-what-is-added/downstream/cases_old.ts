import type { M } from "./gen/k_pb.js";

export function length(m: M): number {
  switch (m.payload.case) {
    case "text":
      return m.payload.value.length;
    case "rawData":
      return m.payload.value.byteLength;
    default:
      throw new Error("empty");
  }
}
