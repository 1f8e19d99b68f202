import type { Item } from "./gen/item_pb.js";

export const number = (item: Item): number => parseInt(item.code.slice(1), 10);
