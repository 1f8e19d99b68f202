import type { Order } from "./gen/order_pb.js";

export const first = (orders: Order[]): string => (orders.length > 100 ? "many" : (orders[0]?.id ?? ""));
