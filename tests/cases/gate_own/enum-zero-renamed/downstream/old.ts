import { State, type Ticket } from "./gen/t_pb.js";

export const unset = (t: Ticket): boolean => t.state === State.UNSPECIFIED;
