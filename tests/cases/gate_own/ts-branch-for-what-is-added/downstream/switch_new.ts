import { Kind, type M } from "./gen/k_pb.js";

export function f(m: M): number {
  switch (m.kind) {
    case Kind.A:
      return 1;
    case Kind.B:
    case Kind.C:
      return 2;
  }
  throw new Error("no kind");
}

export function g(m: M): number {
  switch (m.kind) {
    case Kind.A:
      return 1;
    case 2:
      return 2;
    case 3:
      return 3;
    default:
      throw new Error("no kind");
  }
}
