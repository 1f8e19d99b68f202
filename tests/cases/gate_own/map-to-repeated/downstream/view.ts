import type { Headers } from "./gen/headers_pb.js";

export const host = (h: Headers): string | undefined => h.items["host"];
