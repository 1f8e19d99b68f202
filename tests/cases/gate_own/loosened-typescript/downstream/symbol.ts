import type { Item } from "./gen/item_pb.js";

export function symbol(item: Item): string {
  switch (item.currency) {
    case "EUR":
      return "€";
    case "USD":
      return "$";
    default:
      throw new RangeError("another currency");
  }
}
