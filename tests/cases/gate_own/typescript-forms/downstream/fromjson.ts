import { fromJson } from "@bufbuild/protobuf";
import { OrderSchema, type Order } from "./gen/order_pb.js";

export const make = (): Order => fromJson(OrderSchema, { id: "1", coupon: "TEN" });
