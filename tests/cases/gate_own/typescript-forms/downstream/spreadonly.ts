import { create } from "@bufbuild/protobuf";
import { OrderSchema, type Order } from "./gen/order_pb.js";

export const copy = (o: Order): Order => create(OrderSchema, { ...o, id: "2" });
