import type { Order } from "./gen/order_pb.js";

const LATE_AFTER = 60 * 1000;

export function late(order: Order, sent: Date): string {
  const age = Date.now() - sent.getTime();
  return age > LATE_AFTER ? `${order.id} is late` : order.id;
}
