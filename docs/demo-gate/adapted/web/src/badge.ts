// The badge beside a comment.
// contract-ack: acme.moderation.v1.Verdict.confidence_score added (the badge shows the label alone)
import { Label, type Verdict } from "./gen/acme/moderation/v1/verdict_pb.js";

export function badge(verdict: Verdict): string {
  return verdict.label === Label.TOXIC ? "hidden" : "";
}
