import type { Item } from "./gen/item_pb.js";

export const short = (item: Item): boolean => item.code.length < 4;
export const number = (item: Item): bigint => BigInt(item.code.slice(1));
