import { State } from "./gen/order_pb.js";

export const NAMES: Partial<Record<State, string>> = { [State.SENT]: "on its way" };
