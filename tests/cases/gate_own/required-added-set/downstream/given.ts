import { create } from "@bufbuild/protobuf";
import { ClaimSchema } from "./gen/claim_pb.js";

export const claim = (id: string, policy: string) => create(ClaimSchema, { id, policy });
