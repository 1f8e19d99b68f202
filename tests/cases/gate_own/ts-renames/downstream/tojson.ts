import { toJsonString } from "@bufbuild/protobuf";
import { OrderSchema, type Order } from "./gen/order_pb.js";

export const place = (o: Order): string => JSON.parse(toJsonString(OrderSchema, o)).shipTo;
