import { Kind, type M } from "./gen/k_pb.js";

function fail(kind: never): never {
  throw new Error(`no kind ${kind}`);
}

export function f(m: M): number {
  switch (m.kind) {
    case Kind.A:
    case Kind.B:
      return 2;
    case Kind.UNSPECIFIED:
      return 0;
    default:
      return fail(m.kind);
  }
}
