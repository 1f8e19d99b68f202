import { create } from "@bufbuild/protobuf";
import { BoxSchema, Carrier } from "./gen/box_pb.js";

export const box = () => create(BoxSchema, { carrier: Carrier.ROAD });
