import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** The response to a create; `status` is 0 if the connection broke. */
interface CreateAnswer {
  readonly status: number;
  readonly body: string;
}

/** The token of the demo server. */
export const token = 'for-evaluation-only';

/** Creates plants on a server that may be killed at any moment, and remembers every response. */
export class Creators {
  /** Ids whose create returned 200. */
  readonly acknowledged = new Set<number>();
  /** Every other response. */
  readonly others: CreateAnswer[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #port: number;
  #nextId: number;
  #stopped = false;
  #running: Promise<void>[] = [];

  constructor(port: number, firstId = 1) {
    this.#port = port;
    this.#nextId = firstId;
  }

  get nextId(): number {
    return this.#nextId;
  }

  /** Starts creators that send one plant after the other, each until its connection breaks. */
  start(count: number): void {
    this.#running = Array.from({ length: count }, async () => {
      while (!this.#stopped) {
        const id = this.#nextId++;
        const answer = await this.create(id);
        if (answer.status === 200) this.acknowledged.add(id);
        else this.others.push(answer);
        if (answer.status === 0) return;
      }
    });
  }

  /** Resolves when all creators have their last response. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  create(id: number): Promise<CreateAnswer> {
    return new Promise((resolve) => {
      const broken = () => resolve({ status: 0, body: '' });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const creating = request(
        { host: '127.0.0.1', port: this.#port, path: '/plants', method: 'POST', headers, agent: this.#agent },
        (response) => {
          text(response).then((body) => resolve({ status: response.statusCode!, body }), broken);
        },
      );
      creating.on('error', broken);
      creating.end(`{"id":${id},"name":"plant ${id}"}`);
    });
  }
}

/** Which of these ids the server does not have. It creates them now. */
export async function missingOf(port: number, ids: Iterable<number>): Promise<number[]> {
  const creators = new Creators(port);
  const missing: number[] = [];
  const remaining = ids[Symbol.iterator]();
  const check = async () => {
    for (const id of { [Symbol.iterator]: () => remaining }) {
      const { status, body } = await creators.create(id);
      if (status !== 400 || JSON.parse(body).error !== 40003) missing.push(id);
    }
  };
  await Promise.all(Array.from({ length: 32 }, check));
  await creators.stop();
  return missing;
}
