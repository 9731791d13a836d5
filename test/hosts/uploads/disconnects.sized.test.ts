// Clients disconnect in waves. No call, no socket and no timer remains of them. With `npm run test:heavy` ten thousand
// disconnect from each adapter, and a wave from every mount.
import { connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { acceptTokens, createPlantStore, type PlantHandler, type PlantStorage } from 'plant-store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { isHeavy } from '../../support/heavy.js';
import type { Running } from '../../support/sockets.js';
import { named } from '../../support/titled.js';
import { type Host, oneOfEachAdapter } from '../hosts.js';

/** How many clients are connected at the same time. */
const wave = 250;

/** How far a client is when it disconnects. */
const moments = ['mid-body', 'between request and answer', 'mid-body of a request that is refused'] as const;
type Moment = (typeof moments)[number];

/** A number that a test can wait for. */
class Count {
  #value = 0;
  #waiting: { reached: (value: number) => boolean; resolve: () => void }[] = [];

  get value() {
    return this.#value;
  }

  add(change: number): void {
    this.#value += change;
    this.#waiting = this.#waiting.filter(({ reached, resolve }) => !reached(this.#value) || resolve());
  }

  until(reached: (value: number) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ reached, resolve });
      this.add(0);
    });
  }
}

/** Declares the test of one host with this many clients. */
function disconnectsOn({ basePath, start }: Host, clients: number): void {
  const begun = new Count();
  const pending = new Count();
  const creating = new Count();
  const open = new Count();
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  let gate = deferred();
  let running: Running;

  const storage: PlantStorage = {
    async create() {
      creating.add(1);
      await gate.promise;
      return 'created';
    },
  };
  const handle = createPlantStore(storage, acceptTokens('secret'), { basePath, onError: onUnhandled });
  const counted: PlantHandler = (request) => {
    begun.add(1);
    pending.add(1);
    return handle(request).finally(() => pending.add(-1));
  };

  beforeEach(async () => {
    running = await start(counted);
    running.server.on('connection', (socket: Socket) => {
      open.add(1);
      socket.on('close', () => open.add(-1));
    });
    process.on('unhandledRejection', onUnhandled).on('uncaughtException', onUnhandled);
  });
  afterEach(async () => {
    process.off('unhandledRejection', onUnhandled).off('uncaughtException', onUnhandled);
    await running.close();
  });

  test(`${clients} clients disconnect, and no call, socket or timer remains`, async () => {
    const timersBefore = timers();
    for (let sent = 0; sent < clients; sent += wave) {
      gate = deferred();
      const creatingBefore = creating.value;
      const begunBefore = begun.value;
      const kinds = Array.from({ length: wave }, (_, i) => moments[i % moments.length]!);
      const disconnect = openClients(running.url, kinds);
      await begun.until((value) => value === begunBefore + wave);
      const complete = kinds.filter((kind) => kind === 'between request and answer').length;
      await creating.until((value) => value === creatingBefore + complete);
      disconnect();
      gate.resolve();
      await open.until((value) => value === 0);
      await pending.until((value) => value === 0);
    }
    expect(unhandled).toEqual([]);
    // The drain of a refused upload waits half a second for more of it.
    while (timers() > timersBefore) await setTimeout(50);
  }, 120_000);
}

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

/** Opens clients that stop at these moments. The function returned disconnects them all, every second with a reset. */
function openClients(url: string, kinds: readonly Moment[]): () => void {
  const { protocol, host, port, pathname } = new URL(url);
  const path = `${pathname.replace(/\/$/, '')}/plants`;
  const body = '{"id":1,"name":"Rosa"}';
  const headersOf = (kind: Moment) => ({
    authorization: kind === 'mid-body of a request that is refused' ? 'Bearer wrong' : 'Bearer secret',
    'content-type': 'application/json',
    'content-length': kind === 'between request and answer' ? body.length : 1000,
  });
  if (protocol === 'h2c:') {
    const session = connectHttp2(`http://${host}`).on('error', () => {});
    for (const kind of kinds) {
      const stream = session.request({ ':method': 'POST', ':path': path, ...headersOf(kind) });
      stream.on('error', () => {});
      if (kind === 'between request and answer') stream.end(body);
      else stream.write(body);
    }
    return () => session.destroy(undefined, constants.NGHTTP2_CANCEL);
  }
  const sockets = kinds.map((kind) => {
    const to = { port: Number(port), host: '127.0.0.1' };
    const socket = protocol === 'https:' ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
    const headers = Object.entries(headersOf(kind)).map((header) => header.join(': '));
    socket.on('error', () => {});
    socket.write([`POST ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', body].join('\r\n'));
    return socket;
  });
  return () => {
    for (const [i, socket] of sockets.entries()) {
      if (i % 2 || protocol === 'https:') socket.destroy();
      else socket.resetAndDestroy();
    }
  };
}

const all = isHeavy ? (await import('../../ecosystem/hosts.js')).everyHost : oneOfEachAdapter;

describe.each(named(all))('on %s', (_, host) =>
  disconnectsOn(host, isHeavy && oneOfEachAdapter.includes(host) ? 10_000 : wave),
);
