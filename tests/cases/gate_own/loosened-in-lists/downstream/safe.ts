import type { Item } from "./gen/item_pb.js";

export const numbers = (items: readonly Item[], item: Item | undefined): string[] =>
  [...items, ...(item ? [item] : [])].map(({ code }) => code.slice(1));
