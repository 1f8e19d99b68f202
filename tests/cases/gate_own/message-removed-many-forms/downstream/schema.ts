import { fromBinary } from "@bufbuild/protobuf";
import { CouponSchema } from "./gen/shop_pb.js";

export const code = (raw: Uint8Array): string => fromBinary(CouponSchema, raw).code;
