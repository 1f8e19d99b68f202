import { create } from "@bufbuild/protobuf";
import { ItemSchema } from "./gen/item_pb.js";

export const item = () => create(ItemSchema, { code: "AB", qty: 1 });
