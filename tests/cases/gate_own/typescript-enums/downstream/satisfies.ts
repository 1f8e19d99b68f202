import { Carrier } from "./gen/box_pb.js";

export const DAYS = { [Carrier.UNSPECIFIED]: 9, [Carrier.ROAD]: 3 } satisfies Record<Carrier, number>;
