import { Carrier, type Box } from "./gen/box_pb.js";

const DAYS: Record<Carrier, number> = {
  [Carrier.UNSPECIFIED]: 9,
  [Carrier.ROAD]: 3,
};

export const days = (b: Box): number => DAYS[b.carrier];
