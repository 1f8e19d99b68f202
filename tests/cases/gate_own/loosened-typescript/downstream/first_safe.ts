import type { Item } from "./gen/item_pb.js";

export const first = ({ tags }: Item): string => tags[0]?.toUpperCase() ?? "";
