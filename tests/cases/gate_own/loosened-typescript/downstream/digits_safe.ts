import type { Item } from "./gen/item_pb.js";

const DIGITS: Record<string, number> = { EUR: 2, USD: 2 };

export function digits(item: Item): number {
  return DIGITS[item.currency] ?? 2;
}
