import { toJson } from "@bufbuild/protobuf";
import { MSchema, type M } from "./gen/k_pb.js";

export function f(m: M): number {
  const json = toJson(MSchema, m);
  switch (json.kind) {
    case "KIND_A":
      return 1;
    case "KIND_B":
      return 2;
    case "KIND_C":
      return 3;
  }
  throw new Error("no kind");
}
