import { State, type Ticket } from "./gen/t_pb.js";

export const open = (t: Ticket): boolean => t.state === State.OPEN;
