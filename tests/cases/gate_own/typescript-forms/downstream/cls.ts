import type { Order } from "./gen/order_pb.js";

export class Cart {
  constructor(private readonly order: Order) {}
  get code(): string {
    return this.order.coupon;
  }
}
