import type { MaybePromise } from '../../src/index.js';
import table from './host-cases.json' with { type: 'json' };
import { contractFaults, strictFaults } from './host-faults.js';

/** A host under test. */
export interface OpenedHost {
  /** What comes before `/plants`: `http://127.0.0.1:3000/api`. */
  readonly url: string;
  /** A token that the host accepts. */
  readonly token: string;
  /** Sends a request. Default: the platform's `fetch`. */
  readonly fetch?: FetchLike | undefined;
  /** Releases the resources of `open`. */
  readonly close?: (() => MaybePromise<void>) | undefined;
}

/** As much of `fetch` as the cases need. */
export type FetchLike = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: ReturnType<typeof Uint8Array.of> },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** One rule of the contract, as a check for any test runner. */
export interface HostCase {
  /** Never changes, so that a list of exceptions can name it. */
  readonly id: string;
  readonly name: string;
  /** Rejects if the host breaks the rule; the message has the expected and the received value. */
  readonly run: () => Promise<void>;
}

/**
 * Checks of the whole contract of `POST /plants`, to run against your own host or an implementation in another
 * language, with any test runner. The cases are data: `plant-store/host-cases.json`.
 *
 * @param open starts or names a host that holds no plants and takes bodies of 1 MiB; called once for each case, with its id
 * @param options `alone`: the host has no other routes, so that other paths return 404 and other methods 405.
 * Default: false, and those cases are left out. `strict`: the host is plant-store, whose error numbers, headers and bytes
 * are compared too. Default: false, and what the contract leaves open may differ.
 *
 * @example
 * ```ts
 * import { test } from 'node:test';
 *
 * const open = () => {
 *   const fetch = toFetch(createPlantStore(memoryStorage(), acceptTokens('secret')));
 *   const send: FetchLike = (url, init) => fetch(new Request(url, init));
 *   return { url: 'http://localhost', token: 'secret', fetch: send };
 * };
 * for (const { id, name, run } of hostCases(open, { alone: true, strict: true })) test(`${id}: ${name}`, run);
 * ```
 */
export function hostCases(
  open: (id: string) => MaybePromise<OpenedHost>,
  { alone = false, strict = false }: { alone?: boolean; strict?: boolean } = {},
): HostCase[] {
  const isAnsweredByOthers = ({ expected: { status } }: ContractCase) => status === 404 || status === 405;
  return contractCases
    .filter((one) => !one.setup && (alone || !isAnsweredByOthers(one)))
    .map((one) => ({
      id: one.id,
      name: one.title,
      async run() {
        const { url, token, fetch = globalThis.fetch as FetchLike, close } = await open(one.id);
        try {
          const send = async ({ method, path, headers, body }: CompleteRequest): Promise<Answer> => {
            const response = await fetch(url + path, { method, headers, ...(body && { body }) });
            return { status: response.status, headers: response.headers, text: await response.text() };
          };
          const faults = await faultsOf(one, token, send, strict ? strictFaults : contractFaults);
          if (faults.length > 0) throw new Error(`${one.id}: ${faults.join('; ')}`);
        } finally {
          await close?.();
        }
      },
    }));
}

/** A request as the table writes it, on top of a valid token and `application/json`. */
export interface CaseRequest {
  readonly method?: string;
  readonly path?: string;
  /** `null` leaves out a header that every request has; `{token}` stands for the valid token. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?:
    | string
    | readonly (string | { repeat: string; times: number } | { bytes: readonly number[] })[];
}

export interface ContractCase {
  readonly id: string;
  readonly title: string;
  /** Counts on a verifier and a storage that throw on demand: this project's own tests have them. */
  readonly setup?: boolean;
  /** A request that must return 200 first. */
  readonly before?: CaseRequest;
  readonly request: CaseRequest;
  readonly expected: {
    readonly status: number;
    readonly error?: number;
    /** What the message of this library matches; another implementation may word it otherwise. */
    readonly message?: string;
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: unknown;
    /** The plant that the storage must have received, its id in digits. */
    readonly stores?: { readonly id: string; readonly name: string; readonly tag?: string };
  };
}

/** @internal the whole table, for this project's own tests */
export const contractCases = table as readonly ContractCase[];

export interface CompleteRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: ReturnType<typeof Uint8Array.of> | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** @internal a request of the table, complete. The body is bytes, so that no client adds its own Content-Type. */
export function requestOf(
  token: string,
  { method = 'POST', path = '/plants', headers = {}, body }: CaseRequest,
): CompleteRequest {
  const all = { authorization: 'Bearer {token}', 'content-type': 'application/json', ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    method,
    path,
    headers: Object.fromEntries(given.map(([name, value]) => [name, value.replace('{token}', token)])),
    body: body === undefined ? undefined : bytesOf(body),
  };
}

function bytesOf(body: NonNullable<CaseRequest['body']>): ReturnType<typeof Uint8Array.of> {
  const parts = typeof body === 'string' ? [body] : body;
  const bytes = parts.map((part) => {
    if (typeof part === 'string') return new TextEncoder().encode(part);
    return 'bytes' in part ? part.bytes : new TextEncoder().encode(part.repeat.repeat(part.times));
  });
  const whole = new Uint8Array(bytes.reduce((length, { length: more }) => length + more, 0));
  let offset = 0;
  for (const part of bytes) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** @internal sends a case, and lists the faults of the response */
export async function faultsOf(
  { before, request, expected }: ContractCase,
  token: string,
  send: (request: CompleteRequest) => Promise<Answer>,
  faultsIn = strictFaults,
): Promise<string[]> {
  if (before) {
    const { status, text } = await send(requestOf(token, before));
    if (status !== 200) return [`the request before it returned ${status} ${text}`];
  }
  return faultsIn(expected, await send(requestOf(token, request)));
}
