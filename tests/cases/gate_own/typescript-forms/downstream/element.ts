import type { Order } from "./gen/order_pb.js";

export const code = (o: Order): string => o["coupon"];
