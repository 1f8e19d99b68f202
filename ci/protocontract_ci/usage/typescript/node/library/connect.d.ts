// What modules use of @connectrpc/connect 2: clients, routers and implementations of services.
import type {
  DescMethodBiDiStreaming, DescMethodClientStreaming, DescMethodServerStreaming, DescMethodUnary, MessageInitShape, MessageShape,
} from "@bufbuild/protobuf";

type Serves = { readonly method: {} };
export interface CallOptions { timeoutMs?: number; headers?: any; signal?: any; onHeader?(headers: any): void; onTrailer?(trailers: any): void; contextValues?: any }
export type Transport = any;
export type Interceptor = (next: (request: any) => Promise<any>) => (request: any) => Promise<any>;
export interface HandlerContext { readonly signal: any; readonly requestHeader: any; readonly responseHeader: any; readonly responseTrailer: any; readonly values: any; readonly requestMethod: string; readonly protocolName: string; timeoutMs(): number | undefined }

export type Client<S extends Serves> = {
  [P in keyof S["method"]]: S["method"][P] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>
    : S["method"][P] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, options?: CallOptions) => AsyncIterable<MessageShape<O>>
      : S["method"][P] extends DescMethodClientStreaming<infer I, infer O>
        ? (request: AsyncIterable<MessageInitShape<I>>, options?: CallOptions) => Promise<MessageShape<O>>
        : S["method"][P] extends DescMethodBiDiStreaming<infer I, infer O>
          ? (request: AsyncIterable<MessageInitShape<I>>, options?: CallOptions) => AsyncIterable<MessageShape<O>>
          : never;
};
export type PromiseClient<S extends Serves> = Client<S>;
export declare function createClient<S extends Serves>(service: S, transport: Transport): Client<S>;
export declare function createPromiseClient<S extends Serves>(service: S, transport: Transport): Client<S>;

export type ServiceImpl<S extends Serves> = {
  [P in keyof S["method"]]: S["method"][P] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: HandlerContext) => Promise<MessageInitShape<O>> | MessageInitShape<O>
    : S["method"][P] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: HandlerContext) => AsyncIterable<MessageInitShape<O>>
      : S["method"][P] extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, context: HandlerContext) => Promise<MessageInitShape<O>>
        : S["method"][P] extends DescMethodBiDiStreaming<infer I, infer O>
          ? (requests: AsyncIterable<MessageShape<I>>, context: HandlerContext) => AsyncIterable<MessageInitShape<O>>
          : never;
};
export interface ConnectRouter {
  service<S extends Serves>(service: S, implementation: Partial<ServiceImpl<S>>, options?: any): this;
  rpc(method: any, implementation: any, options?: any): this;
  rpc(service: any, method: any, implementation: any, options?: any): this;
  readonly handlers: any[];
}
export declare function createRouterTransport(routes: (router: ConnectRouter) => void, options?: any): Transport;
export declare function createContextValues(): any;
export declare function createContextKey<T>(defaultValue: T, options?: any): any;
export declare enum Code {
  Canceled = 1, Unknown = 2, InvalidArgument = 3, DeadlineExceeded = 4, NotFound = 5, AlreadyExists = 6, PermissionDenied = 7,
  ResourceExhausted = 8, FailedPrecondition = 9, Aborted = 10, OutOfRange = 11, Unimplemented = 12, Internal = 13, Unavailable = 14,
  DataLoss = 15, Unauthenticated = 16,
}
export declare class ConnectError extends Error {
  constructor(message: string, code?: Code, metadata?: any, outgoingDetails?: any[], cause?: unknown);
  readonly code: Code;
  readonly metadata: any;
  readonly rawMessage: string;
  details: any[];
  static from(reason: unknown, code?: Code): ConnectError;
  findDetails(desc: any): any[];
}
