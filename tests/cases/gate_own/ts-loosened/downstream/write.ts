import { create } from "@bufbuild/protobuf";
import { CartSchema } from "./gen/cart_pb.js";

export const cart = (sku: string) => create(CartSchema, { skus: [sku] });
