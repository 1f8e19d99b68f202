import { Kind, type M } from "./gen/k_pb.js";

const LATEST = Kind.C;

export function f(m: M): number {
  if (m.kind === Kind.A) return 1;
  else if (Kind.B === m.kind) return 2;
  else if (LATEST === m.kind) return 3;
  throw new Error("no kind");
}

export function g({ kind }: M): number {
  if (kind === Kind.A || kind === Kind.B) {
    return 1;
  } else if ([Kind.UNSPECIFIED, Kind.C].includes(kind)) {
    return 2;
  } else {
    throw new Error("no kind");
  }
}
