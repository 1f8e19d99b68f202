import { create } from "@bufbuild/protobuf";
import { PaymentSchema } from "./gen/payment_pb.js";

export const pay = (w: string) => create(PaymentSchema, { how: { case: "wallet", value: w } });
