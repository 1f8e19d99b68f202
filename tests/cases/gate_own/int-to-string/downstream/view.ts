import type { Plot } from "./gen/plot_pb.js";

export const label = (p: Plot): string => p.zip.toFixed(0);
