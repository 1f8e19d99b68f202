import { Carrier, type Box } from "./gen/box_pb.js";

export function days(b: Box): number {
  if (b.carrier === Carrier.ROAD) return 3;
  if (b.carrier === Carrier.UNSPECIFIED) return 9;
  return 14;
}
