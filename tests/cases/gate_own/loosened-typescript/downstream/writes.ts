import { create } from "@bufbuild/protobuf";
import { ItemSchema } from "./gen/item_pb.js";

export const item = (code: string) => create(ItemSchema, { code, currency: "EUR", tags: ["a"], cents: 1n });
