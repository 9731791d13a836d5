import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clients of `POST /api/plants` on a port: each creates one plant after the other, with a pause between. */
export class AlertLoad {
  readonly #agent = new Agent({ keepAlive: true });
  #id = 1;
  #isStopped = false;

  constructor(readonly port: number) {}

  start(clients: number, pauseMs: number): void {
    for (let i = 0; i < clients; i++) void this.#run(() => this.#id++, pauseMs);
  }

  /** One more client, which creates the plant of this id again and again. */
  startOne(id: number): void {
    void this.#run(() => id, 100);
  }

  stop(): void {
    this.#isStopped = true;
    this.#agent.destroy();
  }

  async #run(nextId: () => number, pauseMs: number): Promise<void> {
    while (!this.#isStopped) {
      await this.#create(nextId());
      await sleep(pauseMs);
    }
  }

  #create(id: number): Promise<void> {
    return new Promise((resolve) => {
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
      const options = { port: this.port, path: '/api/plants', method: 'POST', headers, agent: this.#agent };
      const creating = request(options, (response) => response.resume().on('close', resolve));
      creating.on('error', () => resolve());
      creating.end(`{"id":${id},"name":"plant ${id}"}`);
    });
  }
}
