import type { Order } from "./gen/order_pb.js";

export function show({ id, ...rest }: Order): string {
  return id + Object.keys(rest).length;
}
