import type { Buyer } from "./gen/order_pb.js";

export const mail = (b: Buyer): string => b.mail;
