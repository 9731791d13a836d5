// `plant-store audit`: sends the published cases to a running endpoint, and prints for each what came back.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type FetchLike, type HostCase, hostCases } from 'plant-store/testing';
import { idIn, moved, neededIds, needsIdOne } from './audit-ids.js';
import { pageOf } from './audit-pages.js';
import { printable } from './printable.js';

export interface AuditOptions {
  /** The URL before `/plants`. */
  readonly url: string;
  readonly token: string;
  /** A valid token that lacks the scope for creates. */
  readonly forbiddenToken: string | undefined;
  /** The digits that the ids of this audit begin with. */
  readonly ids: string;
}

/** A response. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The error code, if the body is an Error. */
  readonly error: number | undefined;
}

/** Says what the audit will create. */
export function planOf({ url, ids }: AuditOptions): string {
  return `The audit sends about 200 requests to ${url}/plants and creates plants that it cannot delete:
  ids that begin with ${ids}, from ${ids}0001 to ${ids}9999999 and the same below zero
  ${neededIds.join(', ')}, unless they exist`;
}

/**
 * Runs all cases, and prints a line for each.
 *
 * @returns whether all cases passed
 * @throws {Error} with one line if there is no plant-store, or the token is not accepted
 */
export async function audit(options: AuditOptions, print: (text: string) => void): Promise<boolean> {
  const alone = await lookAt(options);
  const trials = new Map<string, Trial>();
  const open = (id: string) => {
    const trial = new Trial(options, id, `${options.ids}${String(trials.size).padStart(3, '0')}`);
    trials.set(id, trial);
    return trial;
  };
  const published = hostCases(open, { alone }).filter(({ id }) => id !== needsIdOne);
  const cases = [...published, ...ownCases(options, open)];
  let failed = 0;
  for (const { id, name, run } of cases) {
    const fault = await run().then(
      () => undefined,
      (error: Error) => error.message.replace(`${id}: `, ''),
    );
    if (fault) failed++;
    const { received } = trials.get(id)!;
    print(fault ? `FAIL  ${id}: ${name}${details(id, received, fault)}` : `ok    ${id}: ${name}`);
  }
  print(`\n${cases.length - failed} of ${cases.length} cases passed.`);
  if (!alone) print('The cases of 404 and 405 were left out: your app responds to other paths and methods.');
  return failed === 0;
}

function details(id: string, received: Received | undefined, fault: string): string {
  return `
        received  ${received ? describe(received) : 'no response'}
        contract  ${printable(fault)}
        read      ${pageOf(id, received)}`;
}

/** Looks for plant-store, without creating a plant. Returns whether it also responds to other paths and methods. */
async function lookAt({ url, token }: AuditOptions): Promise<boolean> {
  const look = (method: string, headers: Record<string, string>) =>
    send(`${url}/plants`, { method, headers }).catch((error: Error) => {
      const { message } = (error.cause as Error | undefined) ?? error;
      throw new Error(`no response from ${url}/plants: ${printable(message)}`);
    });
  const stranger = await look('POST', {});
  if (stranger.error !== 40101)
    throw new Error(
      `${url}/plants is not plant-store: it must respond 401 with the error 40101 to a request without a token, but the response was ${describe(stranger)}. The URL to audit is the part before /plants: read ${pageOf('path', stranger)}`,
    );
  const known = await look('POST', { authorization: `Bearer ${token}`, 'content-type': 'text/plain' });
  if (known.error !== 40005)
    throw new Error(`the token does not create plants: the response was ${describe(known)}`);
  const { error } = await look('GET', {});
  return error === 40501;
}

/** A case under way: what it sends, with ids of its own, and what came back last. */
class Trial {
  readonly url: string;
  readonly token: string;
  received: Received | undefined;
  readonly #sentIds = new Set<bigint>();

  constructor(
    options: AuditOptions,
    readonly id: string,
    readonly prefix: string,
  ) {
    this.url = options.url;
    this.token = options.token;
  }

  readonly fetch: FetchLike = async (url, init) => {
    const body = init.body && moved(this.id, init.body, this.prefix);
    const { status, headers, text } = await this.send(url, { ...init, ...(body && { body }) });
    return this.#existed(body) ?? { status, headers, text: async () => text };
  };

  async send(url: string, init: RequestInit): Promise<Received> {
    this.received = undefined;
    this.received = await send(url, init);
    return this.received;
  }

  /** An earlier audit has created the ids that every audit needs. The message shows that such an id was read exactly. */
  #existed(body: Uint8Array | undefined): Awaited<ReturnType<FetchLike>> | undefined {
    const { error, text } = this.received!;
    const id = body && idIn(body);
    if (id === undefined || !neededIds.includes(id) || this.#sentIds.has(id)) return undefined;
    this.#sentIds.add(id);
    if (error !== 40003 || !text.split(/[^-\d]/).includes(String(id))) return undefined;
    const { name } = JSON.parse(Buffer.from(body!).toString());
    return Response.json({ name });
  }
}

/** What the published cases cannot do: they have no socket, and know one token. */
function ownCases({ url, token, forbiddenToken }: AuditOptions, open: (id: string) => Trial): HostCase[] {
  const create = (trial: Trial, bearer: string) =>
    trial.send(`${url}/plants`, { method: 'POST', headers: headersOf(bearer), body: rosa(trial) });
  const uploadBroken: HostCase = {
    id: 'upload-broken',
    name: 'an upload that breaks off stores nothing',
    async run() {
      const trial = open('upload-broken');
      await breakOff(`${url}/plants`, headersOf(token), rosa(trial));
      const { status } = await create(trial, token);
      if (status !== 200) throw new Error('status must be 200, because the id is still free');
    },
  };
  const scopeForbidden: HostCase = {
    id: 'scope-forbidden',
    name: 'a token without the scope returns 40301, and the scope that it lacks',
    async run() {
      const { status, error, headers } = await create(open('scope-forbidden'), forbiddenToken!);
      const challenge = String(headers.get('www-authenticate'));
      if (status !== 403 || error !== 40301 || !/error="insufficient_scope", scope="/.test(challenge))
        throw new Error('status must be 403, error 40301, and www-authenticate must have the scope');
    },
  };
  return forbiddenToken ? [uploadBroken, scopeForbidden] : [uploadBroken];
}

const headersOf = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

const rosa = ({ prefix }: Trial) => `{"id":${prefix}1,"name":"Rosa canina"}`;

/** Sends all bytes of a plant, but not all of its upload, and closes the connection. */
async function breakOff(url: string, headers: Record<string, string>, plant: string): Promise<void> {
  const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': plant.length + 1 },
  });
  request.on('error', () => {});
  const closed = new Promise((resolve) => request.on('close', resolve));
  request.write(plant, () => request.destroy());
  await closed;
}

async function send(url: string, init: RequestInit): Promise<Received> {
  const signal = AbortSignal.timeout(60_000);
  const response = await fetch(url, { ...init, redirect: 'manual', signal });
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

function describe({ status, headers, text }: Received): string {
  return printable(`${status} ${headers.get('content-type') ?? ''} ${text}`);
}
