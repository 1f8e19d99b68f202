import type { Payment } from "./gen/payment_pb.js";

export const masked = (p: Payment): string => "****" + p.card.slice(-4);
