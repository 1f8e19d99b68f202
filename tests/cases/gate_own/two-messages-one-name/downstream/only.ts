import type { Invoice, Order } from "./gen/order_pb.js";

export const text = (i: Invoice, o: Order): string => i.note + o.id;
