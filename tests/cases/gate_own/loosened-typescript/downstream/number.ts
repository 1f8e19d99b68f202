import type { Item } from "./gen/item_pb.js";

export const serial = (item: Item): number => Number(item.code.slice(item.code.indexOf("-") + 1));
