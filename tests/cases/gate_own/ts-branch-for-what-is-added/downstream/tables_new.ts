import { Kind, type M } from "./gen/k_pb.js";

const WHOLE: Record<Kind, number> = { [Kind.UNSPECIFIED]: 0, [Kind.A]: 1, [Kind.B]: 2, [Kind.C]: 3 };
const KNOWN = { [Kind.A]: 1, [Kind.B]: 2, 3: 3 };
const SOME: Partial<Record<Kind, number>> = { ...KNOWN, [Kind.UNSPECIFIED]: 9 };
const FROZEN: Record<number, string> = Object.freeze({ 1: "a", 2: "b", 3: "c" });
const NAMES: { [name: string]: string } = { A: "a", B: "b", C: "c" };
const MAPPED = new Map<Kind, number>([[Kind.A, 1], [Kind.B, 2], [Kind.C, 3]]);

export const whole = (m: M): number => WHOLE[m.kind];
export const some = (m: M): number => SOME[m.kind]!;
export const frozen = (m: M): string => FROZEN[m.kind];
export const named = (m: M): string => NAMES[Kind[m.kind]];
export const mapped = (m: M): number => MAPPED.get(m.kind)!;

export class Labels {
  private static readonly TEXTS: Record<number, string> = { 1: "a", 2: "b", [Kind.C]: "c" };
  private readonly days = new Map<Kind, number>([[Kind.A, 1], [Kind.C, 3]]);

  text(m: M): string {
    return Labels.TEXTS[m.kind];
  }

  day(m: M): number {
    return this.days.get(m.kind)!;
  }
}
