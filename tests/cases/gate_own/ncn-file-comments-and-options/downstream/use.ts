import type { Order } from "./gen/shop_pb.js";

export const key = (o: Order): string => o.id;
