// What modules use of @bufbuild/protobuf 2, declared by hand: enough to type-check them without installing anything.

export type JsonValue = number | string | boolean | null | JsonObject | JsonValue[];
export type JsonObject = { [k: string]: JsonValue };

export type Message<TypeName extends string = string> = {
  readonly $typeName: TypeName;
  $unknown?: UnknownField[] | undefined;
};
export type UnknownField = { readonly no: number; readonly wireType: number; readonly data: Uint8Array };
export type UnknownEnum = number & { __unknown_enum: true };

export interface DescFile {
  readonly kind: "file";
  readonly name: string;
  readonly messages: DescMessage[];
  readonly enums: DescEnum[];
  readonly services: DescService[];
  readonly proto: any;
}
export interface DescField {
  readonly kind: "field";
  readonly name: string;
  readonly localName: string;
  readonly jsonName: string;
  readonly number: number;
  readonly fieldKind: "scalar" | "enum" | "message" | "list" | "map";
  readonly oneof: DescOneof | undefined;
  readonly message: any;
  readonly enum: any;
  readonly proto: any;
}
export interface DescOneof {
  readonly kind: "oneof";
  readonly name: string;
  readonly localName: string;
  readonly fields: DescField[];
}
export interface DescMessage {
  readonly kind: "message";
  readonly typeName: string;
  readonly name: string;
  readonly file: DescFile;
  readonly fields: DescField[];
  readonly field: { [name: string]: DescField } | {};
  readonly oneofs: DescOneof[];
  readonly members: (DescField | DescOneof)[];
  readonly proto: any;
}
export interface DescEnumValue {
  readonly kind: "enum_value";
  readonly name: string;
  readonly localName: string;
  readonly number: number;
}
export interface DescEnum {
  readonly kind: "enum";
  readonly typeName: string;
  readonly name: string;
  readonly values: DescEnumValue[];
  readonly value: { [number: number]: DescEnumValue };
  readonly proto: any;
}
export interface DescMethod {
  readonly kind: "rpc";
  readonly name: string;
  readonly localName: string;
  readonly methodKind: "unary" | "server_streaming" | "client_streaming" | "bidi_streaming";
  readonly input: DescMessage;
  readonly output: DescMessage;
  readonly proto: any;
}
type MethodOf<K extends string, I extends DescMessage, O extends DescMessage> = { methodKind: K; input: I; output: O };
export type DescMethodUnary<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> = MethodOf<"unary", I, O>;
export type DescMethodServerStreaming<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> = MethodOf<"server_streaming", I, O>;
export type DescMethodClientStreaming<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> = MethodOf<"client_streaming", I, O>;
export type DescMethodBiDiStreaming<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> = MethodOf<"bidi_streaming", I, O>;
export interface DescService {
  readonly kind: "service";
  readonly typeName: string;
  readonly name: string;
  readonly methods: DescMethod[];
  readonly method: {};
  readonly proto: any;
}
export interface DescExtension {
  readonly kind: "extension";
  readonly typeName: string;
}
export type AnyDesc = DescFile | DescMessage | DescEnum | DescService | DescField | DescOneof | DescMethod | DescEnumValue;

type Shaped<S, J = unknown> = { readonly $codegenv2: { a: S; b: J } };
export type MessageShape<D> = D extends Shaped<infer S extends Message> ? S : Message;
export type MessageJsonType<D> = JsonValue;
export type MessageValidType<D> = MessageShape<D>;
export type EnumShape<D> = D extends Shaped<infer S extends number> ? S : number;
export type MessageInitShape<D> = D extends Shaped<infer S extends Message> ? Init<S> : Record<string, unknown>;

type Init<T> = T extends Message ? T | { [P in keyof T]?: P extends "$typeName" ? never : InitOf<T[P]> } : never;
type InitOf<F> = F extends Date | Uint8Array | bigint | boolean | string | number | null | undefined
  ? F
  : F extends (infer U)[]
    ? InitOf<U>[]
    : F extends readonly (infer U)[]
      ? readonly InitOf<U>[]
      : F extends Message
        ? Init<F>
        : F extends { case: infer C extends string; value: infer V extends Message }
          ? { case: C; value: Init<V> }
          : F extends { case: unknown; value?: unknown }
            ? F
            : F extends { [key: string | number]: infer V extends Message }
              ? { [key: string | number]: Init<V> }
              : F;

export interface BinaryReadOptions { readUnknownFields?: boolean; recursionLimit?: number }
export interface BinaryWriteOptions { writeUnknownFields?: boolean }
export interface JsonReadOptions { ignoreUnknownFields?: boolean; registry?: Registry }
export interface JsonWriteOptions { alwaysEmitImplicit?: boolean; enumAsInteger?: boolean; useProtoFieldName?: boolean; registry?: Registry }
export interface JsonWriteStringOptions extends JsonWriteOptions { prettySpaces?: number }

export declare function create<D extends DescMessage>(schema: D, init?: MessageInitShape<D>): MessageShape<D>;
export declare function isMessage<D extends DescMessage>(value: unknown, schema: D): value is MessageShape<D>;
export declare function isMessage(value: unknown): value is Message;
export declare function clone<D extends DescMessage>(schema: D, message: MessageShape<D>): MessageShape<D>;
export declare function merge<D extends DescMessage>(schema: D, target: MessageShape<D>, source: MessageShape<D>): void;
export declare function equals<D extends DescMessage>(schema: D, a: MessageShape<D>, b: MessageShape<D>, options?: any): boolean;
export declare function isFieldSet<D extends DescMessage>(message: MessageShape<D>, field: DescField): boolean;
export declare function clearField<D extends DescMessage>(message: MessageShape<D>, field: DescField): void;
export declare function toBinary<D extends DescMessage>(schema: D, message: MessageShape<D>, options?: BinaryWriteOptions): Uint8Array;
export declare function fromBinary<D extends DescMessage>(schema: D, bytes: Uint8Array, options?: BinaryReadOptions): MessageShape<D>;
export declare function mergeFromBinary<D extends DescMessage>(schema: D, target: MessageShape<D>, bytes: Uint8Array, options?: BinaryReadOptions): MessageShape<D>;
export declare function toJson<D extends DescMessage>(schema: D, message: MessageShape<D>, options?: JsonWriteOptions): JsonValue;
export declare function toJsonString<D extends DescMessage>(schema: D, message: MessageShape<D>, options?: JsonWriteStringOptions): string;
export declare function fromJson<D extends DescMessage>(schema: D, json: JsonValue, options?: JsonReadOptions): MessageShape<D>;
export declare function fromJsonString<D extends DescMessage>(schema: D, json: string, options?: JsonReadOptions): MessageShape<D>;
export declare function mergeFromJson<D extends DescMessage>(schema: D, target: MessageShape<D>, json: JsonValue, options?: JsonReadOptions): MessageShape<D>;
export declare function mergeFromJsonString<D extends DescMessage>(schema: D, target: MessageShape<D>, json: string, options?: JsonReadOptions): MessageShape<D>;
export declare function enumToJson<D extends DescEnum>(schema: D, value: EnumShape<D>): string | null;
export declare function enumFromJson<D extends DescEnum>(schema: D, json: string): EnumShape<D>;
export declare function isEnumJson<D extends DescEnum>(schema: D, value: unknown): boolean;
export interface Registry {
  get(typeName: string): any;
  getMessage(typeName: string): DescMessage | undefined;
  getEnum(typeName: string): DescEnum | undefined;
  getService(typeName: string): DescService | undefined;
  [Symbol.iterator](): IterableIterator<any>;
}
export type MutableRegistry = Registry & { add(desc: any): void; remove(desc: any): void };
export type FileRegistry = Registry & { files: Iterable<DescFile>; getFile(name: string): DescFile | undefined };
export declare function createRegistry(...input: any[]): Registry;
export declare function createMutableRegistry(...input: any[]): MutableRegistry;
export declare function createFileRegistry(...input: any[]): FileRegistry;
export declare function hasExtension(message: Message, extension: any): boolean;
export declare function getExtension(message: Message, extension: any): any;
export declare function setExtension(message: Message, extension: any, value: any): void;
export declare function clearExtension(message: Message, extension: any): void;
export declare function hasOption(element: any, option: any): boolean;
export declare function getOption(element: any, option: any): any;
export declare const protoInt64: {
  readonly zero: bigint;
  readonly supported: boolean;
  parse(value: string | number | bigint): bigint;
  uParse(value: string | number | bigint): bigint;
  enc(value: string | number | bigint): { lo: number; hi: number };
  uEnc(value: string | number | bigint): { lo: number; hi: number };
  dec(lo: number, hi: number): bigint;
  uDec(lo: number, hi: number): bigint;
};
