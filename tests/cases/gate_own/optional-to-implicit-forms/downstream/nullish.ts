import type { User } from "./gen/user_pb.js";

export const nick = (u: User): string => u.nick ?? "anonymous";
