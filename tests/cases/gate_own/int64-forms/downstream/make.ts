import { create } from "@bufbuild/protobuf";
import { BeatSchema } from "./gen/beat_pb.js";

export const beat = () => create(BeatSchema, { at: Date.now() });
