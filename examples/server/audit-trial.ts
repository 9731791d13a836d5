// One case of an audit under way: what it sends, and what comes back.
import type { FetchLike } from 'plant-store/testing';
import { idIn, moved, neededIds } from './audit-ids.js';
import { printable } from './printable.js';

export interface AuditOptions {
  /** The URL before `/plants`. */
  readonly url: string;
  readonly token: string;
  /** A valid token that lacks the scope for creates. */
  readonly forbiddenToken: string | undefined;
  /** The digits that the ids of this audit begin with. */
  readonly ids: string;
  /** Whether the endpoint is plant-store, whose error numbers, headers and bytes are compared too. */
  readonly strict?: boolean | undefined;
}

/** A response. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The error code, if the body is an Error. */
  readonly error: number | undefined;
}

/** A case under way: what it sends, with ids of its own, and what came back last. */
export class Trial {
  readonly url: string;
  readonly token: string;
  received: Received | undefined;
  readonly #strict: boolean;
  readonly #sentIds = new Set<bigint>();

  constructor(
    options: AuditOptions,
    readonly id: string,
    readonly prefix: string,
    /** The ids that the cases of this audit have created. */
    readonly created: Set<bigint>,
  ) {
    this.url = options.url;
    this.token = options.token;
    this.#strict = options.strict ?? false;
  }

  readonly fetch: FetchLike = async (url, init) => {
    const body = init.body && moved(this.id, init.body, this.prefix);
    const { status, headers, text } = await this.send(url, { ...init, ...(body && { body }) });
    const existed = this.#existed(body);
    const id = body && idIn(body);
    if (status === 200 && id !== undefined) this.created.add(id);
    return existed ?? { status, headers, text: async () => text };
  };

  async send(url: string, init: RequestInit): Promise<Received> {
    this.received = undefined;
    this.received = await send(url, init);
    return this.received;
  }

  /**
   * The ids that every audit needs exist: another case, or an earlier audit, has created them. A message with the id shows
   * that it was read exactly; of an endpoint with other messages, only the ids of this audit's cases are known.
   */
  #existed(body: Uint8Array | undefined): Awaited<ReturnType<FetchLike>> | undefined {
    const { status, error, text } = this.received!;
    const id = body && idIn(body);
    if (id === undefined || !neededIds.includes(id) || this.#sentIds.has(id)) return undefined;
    this.#sentIds.add(id);
    const isTaken = this.#strict ? error === 40003 : status === 400;
    const isNamed = text.split(/[^-\d]/).includes(String(id));
    if (!isTaken || !(isNamed || (!this.#strict && this.created.has(id)))) return undefined;
    const { name } = JSON.parse(Buffer.from(body!).toString());
    return Response.json({ name });
  }
}

/** With the `Origin` that a page of the endpoint's own site has: some frameworks respond with 403 to texts and forms without it. */
export async function send(url: string, init: RequestInit): Promise<Received> {
  const signal = AbortSignal.timeout(60_000);
  const headers = { origin: new URL(url).origin, ...(init.headers as Record<string, string>) };
  const response = await fetch(url, { ...init, headers, redirect: 'manual', signal });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, error: errorIn(text) };
}

function errorIn(text: string): number | undefined {
  try {
    const { error, message } = Object(JSON.parse(text));
    return typeof error === 'number' && typeof message === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

export function describe({ status, headers, text }: Received): string {
  // Without its query, which may have a secret.
  const [target] = headers.get('location')?.split(/[?#]/) ?? [];
  const to = target === undefined ? '' : ` to ${target}`;
  return printable(`${status}${to} ${headers.get('content-type') ?? ''} ${text}`);
}
