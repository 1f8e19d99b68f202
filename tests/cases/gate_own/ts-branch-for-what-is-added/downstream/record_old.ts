import { Kind, type M } from "./gen/k_pb.js";

const WHOLE: Record<Kind, number> = { [Kind.UNSPECIFIED]: 0, [Kind.A]: 1, [Kind.B]: 2 };

export const whole = (m: M): number => WHOLE[m.kind];
