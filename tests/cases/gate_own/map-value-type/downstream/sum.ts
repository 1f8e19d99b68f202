import type { Stock } from "./gen/stock_pb.js";

export const total = (s: Stock): number => Object.values(s.levels).reduce((a, b) => a + b, 0);
