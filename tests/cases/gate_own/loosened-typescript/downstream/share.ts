import type { Item } from "./gen/item_pb.js";
import { percent } from "./percent.js";

export const share = (item: Item): bigint => percent(100n, item.cents);
