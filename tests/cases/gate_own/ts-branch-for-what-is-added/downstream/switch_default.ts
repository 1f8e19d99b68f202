import { Kind, type M } from "./gen/k_pb.js";

export function f(m: M): number {
  switch (m.kind) {
    case Kind.A:
      return 1;
    default:
      return 0;
  }
}
