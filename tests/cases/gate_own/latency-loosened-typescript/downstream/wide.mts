import type { Order } from "./gen/order_pb.js";

const MAX_AGE_MS = 600_000;

export const late = (order: Order, ageMs: number): boolean => ageMs > MAX_AGE_MS && order.id !== "";
