import { Carrier, type Box } from "./gen/box_pb.js";

const DAYS: Partial<Record<Carrier, number>> = { [Carrier.ROAD]: 3 };

export const days = (b: Box): number => DAYS[b.carrier] ?? 9;
