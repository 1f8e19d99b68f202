// The badge beside a comment.
import { Label, type Verdict } from "./gen/acme/moderation/v1/verdict_pb.js";

export function badge(verdict: Verdict): string {
  return verdict.label === Label.TOXIC ? "hidden" : "";
}
