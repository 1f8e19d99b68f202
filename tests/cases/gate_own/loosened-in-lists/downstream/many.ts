import type { Item } from "./gen/item_pb.js";

export const numbers = (items: Item[]): bigint[] => items.map((item) => BigInt(item.code.slice(1)));
