import { connect, type Socket } from 'node:net';

export const path = '/plants';
export const token = 'a-token-of-the-usual-length-0123456789';

/** Of 11, 18 and 60 characters, because V8 keeps short and long parts of a text in different ways. */
export const names = [
  'Rosa canina',
  'Monstera deliciosa',
  'Rhododendron catawbiense Grandiflorum, a cutting of May 1998',
] as const;
export type Name = (typeof names)[number];

// As many digits in every id, so that requests and responses differ in length by the name alone.
let nextId = 1_000_000_000;

/** A plant as JSON. Its id was never used before; names take turns. */
export function plantJson(name: Name = names[nextId % names.length]!): string {
  return `{"id":${nextId++},"name":"${name}","tag":"hedge"}`;
}

const head = [
  `POST ${path} HTTP/1.1`,
  'host: localhost',
  'connection: keep-alive',
  `authorization: Bearer ${token}`,
  'content-type: application/json',
  'accept: */*',
  'user-agent: bench',
  'content-length: ',
].join('\r\n');

const requestOf = (name: Name): string => {
  const json = plantJson(name);
  return `${head}${json.length}\r\n\r\n${json}`;
};

export interface Load {
  readonly connections: number;
  /** Whether the process that sends never sleeps: not beside a database, which needs the core. */
  readonly staysAwake: boolean;
}

/**
 * Clients that keep their connections and send the next request after each response. They parse nothing, so that
 * the load costs less than the server: a response starts with a 200 and is as long as every other response of its name.
 */
export class Clients {
  private constructor(
    readonly load: Load,
    readonly sockets: readonly Socket[],
    readonly answerLengths: ReadonlyMap<Name, number>,
  ) {}

  static async connect(port: number, load: Load): Promise<Clients> {
    const sockets = Array.from({ length: load.connections }, () => connect(port, '127.0.0.1').setNoDelay());
    await Promise.all(sockets.map((socket) => new Promise((open) => socket.once('connect', open))));
    const lengths = new Map<Name, number>();
    for (const name of names) lengths.set(name, await lengthOfAnswer(sockets[0]!, name));
    return new Clients(load, sockets, lengths);
  }

  /** Keeps every connection busy for a while. */
  async run(ms: number): Promise<{ operations: number; seconds: number }> {
    const counted = { operations: 0 };
    const awake = this.load.staysAwake ? stayAwake() : undefined;
    const start = performance.now();
    await Promise.all(this.sockets.map((socket) => this.#keepBusy(socket, start + ms, counted)));
    awake?.stop();
    return { ...counted, seconds: (performance.now() - start) / 1000 };
  }

  #keepBusy(socket: Socket, until: number, counted: { operations: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      if (socket.destroyed) throw new Error('the server closed a connection');
      let received = 0;
      let expected = 0;
      const send = () => {
        const name = names[counted.operations % names.length]!;
        expected = this.answerLengths.get(name)!;
        socket.write(requestOf(name), 'latin1');
      };
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the server closed a connection')));
      socket.on('data', (chunk) => {
        const isStart = received === 0;
        received += chunk.length;
        if ((isStart && !is200(chunk)) || received > expected) {
          socket.destroy(new Error(`not the answer that was expected: ${chunk}`));
        } else if (received === expected) {
          received = 0;
          counted.operations++;
          if (performance.now() < until) return send();
          socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
          resolve();
        }
      });
      send();
    });
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

/**
 * Keeps this process from sleeping: a server would pay for waking it, the slower one at every response, the faster one at
 * none, which is half as much again as what the two differ by.
 */
function stayAwake(): { stop(): void } {
  let next = setImmediate(function again() {
    next = setImmediate(again);
  });
  return { stop: () => clearImmediate(next) };
}

function is200(chunk: Buffer): boolean {
  return chunk.toString('latin1', 0, 12) === 'HTTP/1.1 200';
}

/** Sends one request, and reads its response by the declared length. */
async function lengthOfAnswer(socket: Socket, name: Name): Promise<number> {
  socket.write(requestOf(name), 'latin1');
  let answer = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    answer += chunk.toString('latin1');
    const [, length] = /content-length: (\d+)/i.exec(answer) ?? [];
    const body = answer.indexOf('\r\n\r\n') + 4;
    const whole = length ? answer.length === body + Number(length) : answer.endsWith('\r\n0\r\n\r\n');
    if (body > 3 && whole) break;
  }
  return answer.length;
}
