import type { Login } from "./gen/login_pb.js";

export const who = (l: Login): string => l.userName;
