import type { Order } from "./gen/order_pb.js";

export const late = (order: Order, seconds: number): boolean => seconds > 60 && order.id !== "";
