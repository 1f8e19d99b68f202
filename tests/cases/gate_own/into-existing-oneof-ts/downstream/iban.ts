import type { Payment } from "./gen/payment_pb.js";

export const sepa = (p: Payment): boolean => p.how.case === "iban";
