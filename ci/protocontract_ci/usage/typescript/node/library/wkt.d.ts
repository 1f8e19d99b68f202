// The well-known types and the helpers that go with them.
import type { DescFile, DescMessage, JsonObject, Message, MessageShape, Registry } from "@bufbuild/protobuf";
import type { GenEnum, GenMessage } from "@bufbuild/protobuf/codegenv2";

export type Any = Message<"google.protobuf.Any"> & { typeUrl: string; value: Uint8Array };
export type Duration = Message<"google.protobuf.Duration"> & { seconds: bigint; nanos: number };
export type Empty = Message<"google.protobuf.Empty">;
export type FieldMask = Message<"google.protobuf.FieldMask"> & { paths: string[] };
export type Timestamp = Message<"google.protobuf.Timestamp"> & { seconds: bigint; nanos: number };
export type Struct = Message<"google.protobuf.Struct"> & { fields: { [key: string]: Value } };
export type ListValue = Message<"google.protobuf.ListValue"> & { values: Value[] };
export type Value = Message<"google.protobuf.Value"> & {
  kind:
    | { case: "nullValue"; value: NullValue }
    | { case: "numberValue"; value: number }
    | { case: "stringValue"; value: string }
    | { case: "boolValue"; value: boolean }
    | { case: "structValue"; value: Struct }
    | { case: "listValue"; value: ListValue }
    | { case: undefined; value?: undefined };
};
export declare enum NullValue { NULL_VALUE = 0 }
export type DoubleValue = Message<"google.protobuf.DoubleValue"> & { value: number };
export type FloatValue = Message<"google.protobuf.FloatValue"> & { value: number };
export type Int64Value = Message<"google.protobuf.Int64Value"> & { value: bigint };
export type UInt64Value = Message<"google.protobuf.UInt64Value"> & { value: bigint };
export type Int32Value = Message<"google.protobuf.Int32Value"> & { value: number };
export type UInt32Value = Message<"google.protobuf.UInt32Value"> & { value: number };
export type BoolValue = Message<"google.protobuf.BoolValue"> & { value: boolean };
export type StringValue = Message<"google.protobuf.StringValue"> & { value: string };
export type BytesValue = Message<"google.protobuf.BytesValue"> & { value: Uint8Array };

export declare const AnySchema: GenMessage<Any>;
export declare const DurationSchema: GenMessage<Duration>;
export declare const EmptySchema: GenMessage<Empty>;
export declare const FieldMaskSchema: GenMessage<FieldMask>;
export declare const TimestampSchema: GenMessage<Timestamp>;
export declare const StructSchema: GenMessage<Struct>;
export declare const ListValueSchema: GenMessage<ListValue>;
export declare const ValueSchema: GenMessage<Value>;
export declare const NullValueSchema: GenEnum<NullValue>;
export declare const DoubleValueSchema: GenMessage<DoubleValue>;
export declare const FloatValueSchema: GenMessage<FloatValue>;
export declare const Int64ValueSchema: GenMessage<Int64Value>;
export declare const UInt64ValueSchema: GenMessage<UInt64Value>;
export declare const Int32ValueSchema: GenMessage<Int32Value>;
export declare const UInt32ValueSchema: GenMessage<UInt32Value>;
export declare const BoolValueSchema: GenMessage<BoolValue>;
export declare const StringValueSchema: GenMessage<StringValue>;
export declare const BytesValueSchema: GenMessage<BytesValue>;

export declare function timestampNow(): Timestamp;
export declare function timestampFromDate(date: Date): Timestamp;
export declare function timestampDate(timestamp: Timestamp): Date;
export declare function timestampFromMs(timestampMs: number): Timestamp;
export declare function timestampMs(timestamp: Timestamp): number;
export declare function durationFromMs(durationMs: number): Duration;
export declare function durationMs(duration: Duration): number;
export declare function anyPack<D extends DescMessage>(schema: D, message: MessageShape<D>, into?: Any): Any;
export declare function anyIs(any: Any, type: DescMessage | string): boolean;
export declare function anyUnpack<D extends DescMessage>(any: Any, schema: D): MessageShape<D> | undefined;
export declare function anyUnpack(any: Any, registry: Registry): Message | undefined;
export declare function anyUnpackTo<D extends DescMessage>(any: Any, schema: D, message: MessageShape<D>): MessageShape<D> | undefined;
export declare const file_google_protobuf_timestamp: DescFile;
export type { JsonObject };
