import { Kind, type M } from "./gen/k_pb.js";

export function f(m: M): number {
  if (m.kind === Kind.A) return 1;
  if (m.kind === Kind.B) {
    return 2;
  }
  throw new Error("no kind");
}
