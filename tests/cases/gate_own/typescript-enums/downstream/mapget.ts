import { Carrier, type Box } from "./gen/box_pb.js";

const DAYS = new Map<Carrier, number>([[Carrier.ROAD, 3]]);
export const days = (b: Box): number => DAYS.get(b.carrier) ?? 9;
