import type { Order } from "./gen/order_pb.js";

export const place = (o: Order): string => o.shipTo;
