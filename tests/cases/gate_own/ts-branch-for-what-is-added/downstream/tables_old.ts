import { Kind, type M } from "./gen/k_pb.js";

const KNOWN = { [Kind.A]: 1, [Kind.B]: 2 };
const SOME: Partial<Record<Kind, number>> = { ...KNOWN, [Kind.UNSPECIFIED]: 9 };
const FROZEN: Record<number, string> = Object.freeze({ 1: "a", 2: "b" });
const NAMES: { [name: string]: string } = { A: "a", B: "b" };
const MAPPED = new Map<Kind, number>([[Kind.A, 1], [Kind.B, 2]]);

export const some = (m: M): number => SOME[m.kind]!;
export const frozen = (m: M): string => FROZEN[m.kind];
export const named = (m: M): string => NAMES[Kind[m.kind]];
export const mapped = (m: M): number => MAPPED.get(m.kind)!;
