import type { M } from "./gen/k_pb.js";

export function length(m: M): number {
  switch (m.payload.case) {
    case "text":
    case "webLink":
      return m.payload.value.length;
    case "rawData":
      return m.payload.value.byteLength;
    case undefined:
      return 0;
    default: {
      const missing: never = m.payload;
      return missing;
    }
  }
}

const SHOWN = { text: "T", rawData: "D", webLink: "L" };

export function shown(m: M): string {
  return m.payload.case ? SHOWN[m.payload.case] : "";
}

export function first(m: M): string {
  const { payload } = m;
  if (payload.case === "text") return payload.value;
  else if (payload.case === "rawData") return "";
  else if (payload.case === "webLink") return payload.value;
  throw new Error("empty");
}
