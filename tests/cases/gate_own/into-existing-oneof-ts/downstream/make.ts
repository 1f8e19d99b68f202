import { create } from "@bufbuild/protobuf";
import { PaymentSchema } from "./gen/payment_pb.js";

export const pay = (card: string) => create(PaymentSchema, { id: "1", card });
