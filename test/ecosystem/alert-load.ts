import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

let loads = 0;

/** Clients of `POST` on a path: each creates one plant after the other, with a pause between. */
export class AlertLoad {
  /** How many responses had each code: 0 for a created plant, as in the metrics. */
  readonly told = new Map<string, number>();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #running = new Set<Promise<void>>();
  /** Two instances of one database create different plants. */
  #id = 1_000_000 * ++loads;
  #isStopped = false;

  constructor(
    readonly port: number,
    readonly path = '/api/plants',
  ) {}

  start(clients: number, pauseMs: number): void {
    for (let i = 0; i < clients; i++) this.#start(() => this.#id++, pauseMs);
  }

  /** One more client, which creates the plant of this id again and again. */
  startOne(id: number): void {
    this.#start(() => id, 100);
  }

  /** How many clients there are: each has one create on its way at most. */
  get clients(): number {
    return this.#running.size;
  }

  /** Resolves when each client has its last response. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  #start(nextId: () => number, pauseMs: number): void {
    const running = this.#run(nextId, pauseMs).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #run(nextId: () => number, pauseMs: number): Promise<void> {
    while (!this.#isStopped) {
      const code = await this.#create(nextId());
      if (code !== undefined) this.told.set(code, 1 + (this.told.get(code) ?? 0));
      await sleep(pauseMs);
    }
  }

  /** Returns the code of the response; `undefined` if there was none. */
  #create(id: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
      const options = { port: this.port, path: this.path, method: 'POST', headers, agent: this.#agent };
      const creating = request(options, async (response) => {
        let body = '';
        for await (const text of response.setEncoding('utf8')) body += text;
        resolve(/"error":(\d+)/.exec(body)?.[1] ?? '0');
      });
      creating.on('error', () => resolve(undefined));
      creating.end(`{"id":${id},"name":"plant ${id}"}`);
    });
  }
}
