import { toJson } from "@bufbuild/protobuf";
import { LoginSchema, type Login } from "./gen/login_pb.js";

export const who = (l: Login): unknown => (toJson(LoginSchema, l) as Record<string, unknown>)["userName"];
