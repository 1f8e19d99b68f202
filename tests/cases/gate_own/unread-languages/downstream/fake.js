import { OrderSchema } from "./gen/order_pb.js";

export const place = (order) => order.shipTo;
