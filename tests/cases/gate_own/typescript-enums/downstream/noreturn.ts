import { Carrier, type Box } from "./gen/box_pb.js";

export function days(b: Box): number {
  switch (b.carrier) {
    case Carrier.UNSPECIFIED:
      return 9;
    case Carrier.ROAD:
      return 3;
  }
}
