import type { Order } from "./gen/order_pb.js";

interface Coupon {
  code: string;
}
export const code = (o: Order, c: Coupon): string => o.id + c.code;
