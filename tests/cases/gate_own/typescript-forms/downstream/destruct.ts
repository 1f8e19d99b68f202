import type { Order } from "./gen/order_pb.js";

export function show({ id, coupon }: Order): string {
  return id + coupon;
}
