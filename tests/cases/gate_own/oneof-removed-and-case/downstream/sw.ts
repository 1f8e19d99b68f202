import type { Payment } from "./gen/payment_pb.js";

export function how(p: Payment): string {
  switch (p.how.case) {
    case "wallet":
      return "push";
    default:
      return "other";
  }
}
