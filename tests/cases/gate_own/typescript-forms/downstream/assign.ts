import { create } from "@bufbuild/protobuf";
import { OrderSchema } from "./gen/order_pb.js";

export function make() {
  const order = create(OrderSchema);
  order.coupon = "TEN";
  return order;
}
