import type { Order } from "./gen/order_pb.js";

export const Row = ({ order }: { order: Order }): unknown => <td>{order.coupon}</td>;
