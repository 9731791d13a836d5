import { connect, type Socket } from 'node:net';

export const path = '/plants';
export const token = 'a-token-of-the-usual-length-0123456789';

// As many digits in every id, so that every request and every answer is as long as the one before.
let nextId = 1_000_000_000;

/** A plant as JSON; its id was never used before. */
export const plantJson = (): string => `{"id":${nextId++},"name":"Rosa canina","tag":"hedge"}`;

const bodyLength = plantJson().length;
const head = [
  `POST ${path} HTTP/1.1`,
  'host: localhost',
  'connection: keep-alive',
  `authorization: Bearer ${token}`,
  'content-type: application/json',
  'accept: */*',
  'user-agent: bench',
  `content-length: ${bodyLength}`,
  '\r\n',
].join('\r\n');

/**
 * Clients that keep their connections and send the next request when the answer is there. They parse nothing, so that
 * the load costs less than the server: an answer starts with a 200 and is as long as every other.
 */
export class Clients {
  private constructor(
    readonly sockets: readonly Socket[],
    readonly answerLength: number,
  ) {}

  static async connect(port: number, connections: number): Promise<Clients> {
    const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1').setNoDelay());
    await Promise.all(sockets.map((socket) => new Promise((open) => socket.once('connect', open))));
    return new Clients(sockets, await lengthOfAnswer(sockets[0]!));
  }

  /** Keeps every connection busy for a while. */
  async run(ms: number): Promise<{ operations: number; seconds: number; latencies: number[] }> {
    const latencies: number[] = [];
    const awake = stayAwake();
    const start = performance.now();
    await Promise.all(this.sockets.map((socket) => this.#keepBusy(socket, start + ms, latencies)));
    awake.stop();
    return { operations: latencies.length, seconds: (performance.now() - start) / 1000, latencies };
  }

  #keepBusy(socket: Socket, until: number, latencies: number[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (socket.destroyed) throw new Error('the server closed a connection');
      let received = 0;
      let sent = 0;
      const send = () => {
        sent = performance.now();
        socket.write(head + plantJson(), 'latin1');
      };
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the server closed a connection')));
      socket.on('data', (chunk) => {
        const isStart = received === 0;
        received += chunk.length;
        if ((isStart && !is200(chunk)) || received > this.answerLength) {
          socket.destroy(new Error(`not the answer that was expected: ${chunk}`));
        } else if (received === this.answerLength) {
          received = 0;
          const now = performance.now();
          latencies.push((now - sent) * 1000);
          if (now < until) return send();
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
 * Keeps this process from sleeping: a server would pay for waking it, the slower one at every answer, the faster one at
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

/** Asks once, and reads the answer by its own account of its length. */
async function lengthOfAnswer(socket: Socket): Promise<number> {
  socket.write(head + plantJson(), 'latin1');
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
