import type { Order } from "./gen/order_pb.js";

export type Row = Pick<Order, "id" | "coupon">;
