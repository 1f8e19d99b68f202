import { fromBinary } from "@bufbuild/protobuf";
import { ItemSchema } from "./gen/item_pb.js";

export function first(raw: Uint8Array): string {
  const item = fromBinary(ItemSchema, raw);
  return item.tags[0].toUpperCase();
}
