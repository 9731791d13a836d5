// biome-ignore lint/suspicious/noExplicitAny: a listener's arguments are the event's own
type Listener = (...args: any[]) => void;

/** The part of a request of `node:http`, `node:https` or `node:http2` (its compatibility API) that the adapters use. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Stand-ins in tests and serverless platforms may have none, nor a stream. */
  readonly rawHeaders?: readonly string[];
  readonly socket: {
    readonly destroyed?: boolean;
    readonly writableEnded?: boolean;
    destroySoon?: () => void;
    end(): unknown;
  };
  readonly aborted: boolean;
  readonly complete?: boolean;
  readonly destroyed?: boolean;
  readonly readableDidRead: boolean;
  readonly readableFlowing: boolean | null;
  readonly readableEnded: boolean;
  readonly readableEncoding: string | null;
  readonly readableLength?: number;
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
  listenerCount(event: string): number;
  pause(): unknown;
  read(): unknown;
  resume?(): unknown;
  destroy(): unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

/** The part of Node's response that is used. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly destroyed?: boolean;
  readonly _sent100?: boolean;
  /** On HTTP/2 alone. */
  readonly stream?: {
    readonly destroyed: boolean;
    readonly writableFinished: boolean;
    readonly sentInfoHeaders?: readonly unknown[] | undefined;
    on(event: string, listener: Listener): unknown;
    destroy(): unknown;
  };
  setHeader(name: string, value: string | number): unknown;
  writeHead(status: number): unknown;
  writeContinue(): unknown;
  getHeaderNames(): string[];
  removeHeader(name: string): void;
  end(body: string): unknown;
  destroy(): void;
  on(event: string, listener: Listener): unknown;
}
