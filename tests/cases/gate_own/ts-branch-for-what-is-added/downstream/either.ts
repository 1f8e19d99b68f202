import { Kind, type M } from "./gen/k_pb.js";

export function f(m: M, strict: boolean): number {
  switch (m.kind) {
    case Kind.A:
      return 1;
    case strict ? Kind.C : Kind.B:
      return 2;
  }
  throw new Error("no kind");
}
