import { Kind, type M } from "./gen/k_pb.js";

function fail(kind: never): never {
  throw new Error(`no kind ${kind}`);
}

export function f(m: M): number {
  if (m.kind === Kind.A) return 1;
  if (m.kind === Kind.B) return 2;
  if (m.kind === Kind.C) return 3;
  if (m.kind === Kind.UNSPECIFIED) return 0;
  return fail(m.kind);
}
