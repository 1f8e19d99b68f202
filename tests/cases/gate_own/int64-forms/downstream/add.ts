import type { Beat } from "./gen/beat_pb.js";

export const later = (b: Beat): number => b.at + 60;
