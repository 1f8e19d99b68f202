import type { Invoice, Order } from "./gen/order_pb.js";

export const text = (i: Invoice): string => i.note;
export const other = (o: Order): string => o.note;
