import type { Item } from "./gen/item_pb.js";

export const head = (i: Item): string => i.code.slice(0, 2);
