import type { Order } from "./gen/order_pb.js";

export const codes = (all: Order[]): string[] => all.map((o) => o.coupon).filter(Boolean);
