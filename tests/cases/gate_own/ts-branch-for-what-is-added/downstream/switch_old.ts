import { Kind, type M } from "./gen/k_pb.js";

export function f(m: M): number {
  switch (m.kind) {
    case Kind.A:
      return 1;
    case Kind.B:
      return 2;
  }
  throw new Error("no kind");
}
