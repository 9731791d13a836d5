// The clients of the soak, in their own process, so that their memory is not counted as the server's.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

export interface ClientJob {
  readonly kind: 'creates' | 'vanishing' | 'uploads';
  readonly count: number;
  readonly port: number;
}

const { kind, count, port } = JSON.parse(process.argv[2] ?? '') as ClientJob;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
const upload = 'x'.repeat(100 * 1024);

/** Sends one request, and returns the status of its response. */
async function post(body: string, more: Record<string, string> = {}): Promise<number> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/plants',
    method: 'POST',
    agent,
    headers: { ...headers, ...more },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

/** Disconnects in the middle of its body: half of the clients with a reset. */
async function vanish(i: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const head =
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n';
  await new Promise((resolve) => socket.write(`${head}Content-Length: 30\r\n\r\n{"id":1,`, resolve));
  if (i % 2) socket.resetAndDestroy();
  else socket.destroy();
  if (!socket.closed) await once(socket, 'close');
}

const kinds: Record<ClientJob['kind'], (i: number) => Promise<void>> = {
  async creates(i) {
    const status = await post(`{"id":${i},"name":"Rosa canina"}`);
    if (status !== 200) throw new Error(`a create returned ${status}`);
  },
  vanishing: vanish,
  async uploads(i) {
    // Half of them chunked, so that no declared length gives them away.
    const status = await post(upload, i % 2 ? { 'transfer-encoding': 'chunked' } : {});
    if (status !== 400) throw new Error(`an upload returned ${status}`);
  },
};

let next = 0;
await Promise.all(
  Array.from({ length: 64 }, async () => {
    while (next < count) await kinds[kind](next++);
  }),
);
agent.destroy();
