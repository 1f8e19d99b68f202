import type { Item } from "./gen/item_pb.js";

export function series(item: Item): string {
  const [letters, digits] = item.code.split("-");
  return digits.padStart(6, "0") + letters;
}
