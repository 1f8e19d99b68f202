// The types by which generated code describes itself, as far as modules see them.
import type { DescEnum, DescFile, DescMessage, DescMethod, DescService, JsonValue, Message } from "@bufbuild/protobuf";

export type GenFile = DescFile;
export type GenMessage<S extends Message, F = unknown, J = unknown> = Omit<DescMessage, "field" | "typeName"> & {
  field: F;
  typeName: S["$typeName"];
} & { readonly $codegenv2: { a: S; b: unknown } };
export type GenEnum<S extends number, J = JsonValue> = DescEnum & { readonly $codegenv2: { a: S; b: unknown } };
export type GenExtension<E extends Message = Message, S = unknown> = any;
export type GenService<M> = Omit<DescService, "method"> & { method: { [K in keyof M]: M[K] & DescMethod } };
