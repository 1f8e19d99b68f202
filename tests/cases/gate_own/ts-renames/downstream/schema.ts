import { OrderSchema } from "./gen/order_pb.js";

export const number = (): number => OrderSchema.field.shipTo.number;
