import { type Item, Size } from "./gen/item_pb.js";

const WIDTHS = new Map([[Size.UNSPECIFIED, 1], [Size.SMALL, 2], [Size.LARGE, 3]]);

export const width = (item: Item): number => WIDTHS.get(item.size)!.valueOf();
