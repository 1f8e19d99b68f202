import type { Order } from "./gen/acme/shop/v1/order_pb.js";

export const code = (o: Order): string => o.coupon;
