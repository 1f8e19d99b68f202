import type { Order } from "./gen/order_pb.js";

export const COLUMNS: (keyof Order)[] = ["id", "coupon"];
