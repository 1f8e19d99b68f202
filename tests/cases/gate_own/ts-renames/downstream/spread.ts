import { create } from "@bufbuild/protobuf";
import { OrderSchema } from "./gen/order_pb.js";

const defaults = { id: "1", shipTo: "here" };
export const order = () => create(OrderSchema, defaults);
