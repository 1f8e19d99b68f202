import { Carrier, type Box } from "./gen/box_pb.js";

export function text(b: Box): string {
  switch (b.carrier) {
    case Carrier.ROAD:
      return "road";
    case Carrier.RAIL:
      return "rail";
    default:
      return "?";
  }
}
