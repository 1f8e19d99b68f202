import { Kind, type M } from "./gen/k_pb.js";

const SOME: Partial<Record<Kind, number>> = { [Kind.A]: 1 };

export const some = (m: M): number => SOME[m.kind] ?? 0;
