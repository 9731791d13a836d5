/**
 * Random uploads to `toNode`: bodies in any pieces, pauses, resets and stalls, behind middleware that listens to the
 * stream, decodes it, pauses it or reads it first. Each gets a response, and the stored plant is exactly the one that was sent.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Duplex } from 'node:stream';
import type { NewPlant, PlantHandler } from 'plant-store';
import { afterAll, it, vi } from 'vitest';
import { seed } from '../../support/random.js';
import { type Random, runSchedules } from '../../support/schedules.js';
import { SimulatedTimers } from '../../support/timers.js';

const timers = new SimulatedTimers();
timers.install();
const { createPlantStore } = await import('plant-store');
const { memoryStorage } = await import('plant-store/memory');
const { toNode } = await import('plant-store/node');
afterAll(() => vi.unstubAllGlobals());

const timeoutMs = 1000;
const bodyLimit = 600;

/** The server's end of a connection without a network. */
class MemorySocket extends Duplex {
  hasAnswer = false;

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    this.hasAnswer = true;
    done();
  }

  setTimeout(): this {
    return this;
  }

  destroySoon(): void {
    this.end(() => this.destroy());
  }
}

/** The client's end. */
interface Client {
  /** Whether the server has written anything. */
  readonly hasAnswer: boolean;
  write(bytes: Buffer): void;
  reset(): void;
}

type Connect = (server: Server) => Promise<Client>;

const inMemory: Connect = async (server) => {
  const socket = new MemorySocket();
  socket.on('error', () => {});
  server.emit('connection', socket);
  return {
    get hasAnswer() {
      return socket.hasAnswer;
    },
    write: (bytes) => void (socket.destroyed || socket.push(bytes)),
    reset: () => void socket.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
  };
};

const overNetwork: Connect = async (server) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  return {
    get hasAnswer() {
      return socket.bytesRead > 0;
    },
    write: (bytes) => void socket.write(bytes),
    reset: () => void socket.resetAndDestroy(),
  };
};

/** What a middleware in front does with the stream, and what becomes of a good body behind it. */
interface InFront {
  readonly does: string;
  readonly answers: readonly number[];
  /** Calls `next` at once, or when it has read the body. */
  readonly run: (request: Request, next: () => void) => void;
}

type Request = IncomingMessage & { body?: unknown; rawBody?: unknown };

const gather = (request: Request, then: (bytes: Buffer) => void) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => then(Buffer.concat(chunks)));
};

const decoding = (encoding: BufferEncoding, answer: number): InFront => ({
  does: `setEncoding('${encoding}')`,
  answers: [answer],
  run: (request, next) => {
    request.setEncoding(encoding);
    next();
  },
});

const listening = (event: string, then: (request: Request) => void = () => {}): InFront => ({
  does: `listens to ${event}`,
  answers: [200],
  run: (request, next) => {
    request.on(event, () => {});
    then(request);
    next();
  },
});

const parsing = (does: string, keep: (request: Request, bytes: Buffer) => void, answer = 200): InFront => ({
  does: `reads the body and ${does}`,
  answers: [answer],
  run: (request, next) =>
    gather(request, (bytes) => {
      keep(request, bytes);
      next();
    }),
});

const inFront: readonly InFront[] = [
  { does: 'nothing', answers: [200], run: (_request, next) => next() },
  { does: 'nothing', answers: [200], run: (_request, next) => next() },
  listening('data'),
  listening('data', (request) => request.pause()),
  listening('end', (request) => request.pause()),
  listening('readable'),
  listening('close', (request) => request.on('error', () => {})),
  {
    does: 'takes from the stream whenever it is readable',
    // What comes before we listen is lost, because such a reader cannot be paused.
    answers: [200, 50003],
    run: (request, next) => {
      request.on('readable', () => {
        while (request.read() !== null);
      });
      next();
    },
  },
  {
    does: 'lets the stream flow for some turns',
    answers: [200, 50003],
    run: (request, next) => {
      request.on('data', () => {});
      setImmediate(setImmediate, next);
    },
  },
  {
    does: 'calls next some turns later',
    answers: [200],
    run: (_request, next) => void setImmediate(setImmediate, next),
  },
  decoding('utf8', 200),
  decoding('latin1', 200),
  decoding('hex', 200),
  decoding('base64', 200),
  decoding('ascii', 50003),
  decoding('utf16le', 50003),
  parsing('keeps the bytes', (request, bytes) => {
    request.rawBody = bytes;
  }),
  parsing('keeps the text', (request, bytes) => {
    request.body = bytes.toString();
  }),
  parsing('keeps the value', (request, bytes) => {
    request.body = JSON.parse(bytes.toString());
  }),
  parsing('keeps nothing', () => {}, 50003),
];

/** How the client ends. */
type Ending = 'complete' | 'stalled' | 'reset' | 'broken';

/** One server, and one upload at a time. */
class Uploads {
  readonly plants = new Map<bigint, NewPlant>();
  readonly server: Server;
  wrong: string[] = [];
  #upload: Upload | undefined;

  constructor() {
    const storage = memoryStorage(this.plants);
    const store = createPlantStore(storage, () => this.#upload!.verify(), {
      timeoutMs,
      bodyLimit,
      onError: (error) => void this.#upload?.reported.push(error),
    });
    const handle: PlantHandler = async (request) => {
      const { status, body } = await store(request);
      this.#upload!.onAnswer(status === 200 ? 200 : JSON.parse(body).error);
      return { status, headers: {}, body };
    };
    const mount = toNode(handle);
    const serve = (request: Request, response: ServerResponse) => {
      const upload = this.#upload!;
      upload.onRequest(request);
      upload.front.run(request, () => {
        upload.onMount(request);
        mount(request, response);
      });
    };
    this.server = createServer(serve).on('clientError', (_error, socket) => socket.destroy());
    this.server.on('checkContinue', serve);
  }

  async run(random: Random, connect: Connect, turns: number): Promise<string[]> {
    timers.reset();
    this.plants.clear();
    const upload = new Upload(random);
    this.#upload = upload;
    await upload.run(await connect(this.server), turns);
    return upload.differences(this.plants);
  }
}

class Upload {
  readonly front: InFront;
  readonly answers: number[] = [];
  readonly reported: unknown[] = [];
  readonly plant: NewPlant;
  readonly #bytes: Buffer;
  readonly #token: 'good' | 'wrong';
  readonly #ending: Ending;
  readonly #isChunked: boolean;
  readonly #random: Random;
  #request: Request | undefined;
  #listenersBefore = 0;
  #listenersLeft = 0;
  /** What a listener in front of us was given. */
  readonly #seen: Buffer[] = [];
  #ends = 0;
  readonly #watches: boolean;
  readonly #isSlowToVerify: boolean;
  readonly #awaitsContinue: boolean;
  #hasContinued = true;
  #answeredAt = 0;

  constructor(random: Random) {
    this.#random = random;
    this.front = inFront[this.#below(inFront.length)]!;
    const letters = ['a', 'é', 'ば', '🌹'];
    const length = random() < 0.1 ? 700 : this.#below(60);
    const name = Array.from({ length }, () => letters[this.#below(4)]).join('');
    this.plant = { id: BigInt(this.#below(2 ** 40)), name, tag: undefined };
    this.#bytes = Buffer.from(`{"id":${this.plant.id},"name":"${name}"}`);
    this.#token = random() < 0.9 ? 'good' : 'wrong';
    this.#ending = (['complete', 'complete', 'stalled', 'reset', 'broken'] as const)[this.#below(5)]!;
    this.#isChunked = this.#ending === 'broken' || random() < 0.5;
    this.#watches = random() < 0.3;
    this.#isSlowToVerify = random() < 0.3;
    // A middleware that reads the body before us is to send the 100 itself.
    this.#awaitsContinue = random() < 0.2 && !this.#isRead;
  }

  /** Whether a parser in front reads the body. */
  get #isRead(): boolean {
    return this.front.does.startsWith('reads the body');
  }

  #below(limit: number): number {
    return Math.floor(limit * this.#random());
  }

  onRequest(request: Request): void {
    this.#request = request;
    // A listener to `data` makes the stream flow, so it is there only if nothing waits in front.
    if (this.#watches && this.front.does === 'nothing') {
      request.on('data', (chunk: Buffer) => this.#seen.push(chunk));
    }
    request.on('end', () => this.#ends++);
  }

  async #isGoodLater(): Promise<boolean> {
    for (let i = 0; i < 3; i++) await turn();
    return this.#token === 'good';
  }

  verify(): boolean | Promise<boolean> {
    return this.#isSlowToVerify ? this.#isGoodLater() : this.#token === 'good';
  }

  onMount(request: Request): void {
    this.#listenersBefore = listenersOf(request);
  }

  onAnswer(answer: number): void {
    this.answers.push(answer);
    this.#answeredAt = timers.clock.now();
    // The remaining upload is read by Node's iterator, whose listeners stay on a request that is destroyed.
    if (answer !== 40007) this.#listenersLeft = listenersOf(this.#request!) - this.#listenersBefore;
  }

  async run(client: Client, turns: number): Promise<void> {
    client.write(this.#head());
    if (this.#awaitsContinue) {
      await turnsUntil(() => client.hasAnswer, turns);
      this.#hasContinued = client.hasAnswer;
    }
    const isWhole = this.#ending === 'complete';
    // Of an upload that is not completed, at least a byte is missing.
    const end = isWhole ? this.#bytes.length : this.#below(this.#bytes.length);
    for (let at = 0; at < end; ) {
      await this.#pause();
      const size = Math.min(end - at, 1 + this.#below(this.#random() < 0.5 ? 5 : 400));
      client.write(this.#piece(this.#bytes.subarray(at, at + size)));
      at += size;
    }
    await this.#pause();
    if (isWhole && this.#isChunked) client.write(Buffer.from('0\r\n\r\n'));
    if (this.#ending === 'broken') client.write(Buffer.from('no chunk\r\n'));
    if (this.#ending === 'reset') client.reset();
    await turnsUntil(() => this.#request !== undefined, turns);
    // These get their response after the timeout, or none.
    const isSlow = this.#ending === 'stalled' || this.#expected().length === 0;
    await turnsUntil(() => this.answers.length > 0, isSlow ? 20 : turns);
    await timers.clock.advance(timeoutMs);
    await turn();
    // A refused upload ends after 500 ms without progress, and its client then has 500 ms to read the response. Over a
    // socket, what it has sent may come between any of them.
    for (let i = 0; i < turns && (i < 20 || timers.count > 0); i++) {
      await timers.clock.advance(100);
      await turn();
    }
    client.reset();
    await turnsUntil(() => this.#request!.destroyed, turns);
  }

  /** Lets Node do what it has put off: nothing of it, some, or a turn of its event loop. */
  async #pause(): Promise<void> {
    const pauses = [undefined, tick, turn];
    await pauses[this.#below(3)]?.();
  }

  #head(): Buffer {
    const framing = this.#isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${this.#bytes.length}`;
    const lines = [
      'POST /plants HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${this.#token}`,
      'Content-Type: application/json',
      framing,
    ];
    if (this.#random() < 0.2) lines.push('Connection: close');
    if (this.#awaitsContinue) lines.push('Expect: 100-continue');
    return Buffer.from([...lines, '', ''].join('\r\n'));
  }

  #piece(bytes: Buffer): Buffer {
    if (!this.#isChunked) return bytes;
    return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  }

  /** The error codes that the response may have; none if the request may never reach the handler. */
  #expected(): readonly number[] {
    // A parser in front waits for the end of the body, too.
    if (this.#isRead && this.#ending !== 'complete') return [];
    if (this.#token === 'wrong') return [40102];
    const isLarge = this.#bytes.length > bodyLimit;
    if (isLarge && !this.#isChunked) return [40006];
    const { answers } = this.front;
    if (answers[0] === 50003 && isLarge) return [50003, 40006, 40007];
    if (this.#ending !== 'complete')
      return [40007, ...answers.filter((answer) => answer === 50003), ...(isLarge ? [40006] : [])];
    if (isLarge) return [40006, ...answers.filter((answer) => answer === 50003)];
    return answers;
  }

  differences(plants: ReadonlyMap<bigint, NewPlant>): string[] {
    const wrong: string[] = [];
    const expect = (truth: boolean, what: string) => truth || wrong.push(`${what} (${this})`);
    const expected = this.#expected();
    const [answer] = this.answers;
    expect(this.answers.length === (expected.length > 0 ? 1 : 0), `answers: ${this.answers}`);
    expect(answer === undefined || expected.includes(answer), `answered ${answer}, expected ${expected}`);
    const stored = [...plants.values()];
    expect(stored.length === (answer === 200 ? 1 : 0), `${stored.length} plants are stored`);
    if (answer === 200) expect(same(stored[0]!, this.plant), `stored ${stored[0]!.id} ${stored[0]!.name}`);
    expect(this.reported.length === (answer === 50003 ? 1 : 0), `reported ${this.reported}`);
    if (this.#watches && this.front.does === 'nothing' && answer === 200) {
      expect(Buffer.concat(this.#seen).equals(this.#bytes), `a listener in front saw ${this.#seen.join('')}`);
    }
    expect(answer !== 200 || this.#ends === 1, `end came ${this.#ends} times`);
    expect(timers.count === 0, `${timers.count} timers are left`);
    expect(this.#hasContinued, 'waited for a 100 in vain');
    const isInTime = this.#answeredAt <= (this.#ending === 'stalled' ? timeoutMs : 0);
    expect(isInTime, `answered after ${this.#answeredAt} ms`);
    expect(this.#listenersLeft <= 0, `${this.#listenersLeft} listeners are left`);
    return wrong;
  }

  toString(): string {
    const { length } = this.#bytes;
    const framing = this.#isChunked ? 'chunked' : 'declared';
    return `${length} bytes, ${framing}, ${this.#ending}, ${this.#token} token, in front: ${this.front.does}`;
  }
}

const same = (a: NewPlant, b: NewPlant) => a.id === b.id && a.name === b.name;

/** Its listeners, but for those to `error`: without them an error would end the process. */
function listenersOf(request: IncomingMessage): number {
  const events = ['data', 'readable', 'end', 'close'];
  return events.reduce((sum, event) => sum + request.listenerCount(event), 0);
}

function tick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** A turn of the event loop, in which Node's streams do what they have put off. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function turnsUntil(isReached: () => boolean, turns: number): Promise<void> {
  for (let i = 0; i < turns && !isReached(); i++) await turn();
}

it(`toNode stores exactly what was sent, and responds to every upload (SEED=${seed})`, async () => {
  const uploads = new Uploads();
  await runSchedules(3_000, (random) => uploads.run(random, inMemory, 20));
}, 600_000);

it(`toNode stores exactly what was sent over sockets, too (SEED=${seed})`, async () => {
  const uploads = new Uploads();
  uploads.server.listen(0, '127.0.0.1');
  await once(uploads.server, 'listening');
  await runSchedules(200, (random) => uploads.run(random, overNetwork, 100_000));
  uploads.server.close();
  uploads.server.closeAllConnections();
}, 600_000);
