// Offers creates at a steady rate, whether or not earlier creates have settled, in its own process.
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';

export interface Offer {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** `error` is 0 for a 200; `sentAt` and `ms` are milliseconds since the first request, and until the response. */
export type OfferedAnswers = readonly {
  readonly id: number;
  readonly error: number;
  readonly sentAt: number;
  readonly ms: number;
}[];

const { port, perSecond, seconds } = JSON.parse(process.argv[2] ?? '') as Offer;
const agent = new Agent({ keepAlive: true });
const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
const answers: Promise<OfferedAnswers[number]>[] = [];
const started = performance.now();

function create(id: number): Promise<OfferedAnswers[number]> {
  const sentAt = performance.now() - started;
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/plants', method: 'POST', agent, headers },
      (response) => {
        json(response).then((body) => {
          const { error = 0 } = body as { error?: number };
          resolve({ id, error, sentAt, ms: performance.now() - started - sentAt });
        }, reject);
      },
    );
    sent.on('error', reject);
    sent.end(`{"id":${id},"name":"Rosa canina"}`);
  });
}

process.send?.('started');
const ticking = setInterval(() => {
  const due = Math.min(((performance.now() - started) / 1000) * perSecond, perSecond * seconds);
  while (answers.length < due) answers.push(create(answers.length));
  if (answers.length < perSecond * seconds) return;
  clearInterval(ticking);
  Promise.all(answers).then((all) => {
    agent.destroy();
    process.send?.(all, () => process.disconnect());
  });
}, 10);
