import type { Beat } from "./gen/beat_pb.js";

export const text = (b: Beat): string => JSON.stringify({ at: b.at });
