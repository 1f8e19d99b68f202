import type { Cart } from "./gen/cart_pb.js";

export const headline = (c: Cart): string => (c.skus[0] ?? "empty").toUpperCase();
