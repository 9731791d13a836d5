import { mountMistake } from '../../../src/for-hosts.js';

// biome-ignore lint/suspicious/noExplicitAny: it may be anything
type FirstArgument = any;

const isFetch = (request: FirstArgument) => typeof request?.headers?.get === 'function';

/** What to write on each host, known by what it passes to a handler first. */
const lines: readonly (readonly [isHost: (given: FirstArgument) => unknown, line: string])[] = [
  [isFetch, "toFetch(handle), or as a route toRoute(handle), from 'plant-store/fetch'"],
  [
    ({ req }) => isFetch(req?.raw),
    "app.post('/api/plants', (c) => plants(c.req.raw)), where plants is toRoute(handle) from 'plant-store/fetch'",
  ],
  [
    ({ req, request }) => isFetch(req) || isFetch(request),
    "a function that passes the Request, such as ({ request }) => plants(request), where plants is toRoute(handle) from 'plant-store/fetch'",
  ],
  [({ req, res }) => req && res, "toKoa(handle), or as a route toRoute(handle), from 'plant-store/koa'"],
  [
    ({ raw, addHook }) => raw || addHook,
    "app.register(toFastify(handle), { prefix: '/api' }), or for a guard app.get('/plants/:id', toRoute(getPlant)), from 'plant-store/fastify'",
  ],
  [
    ({ rawHeaders }) => rawHeaders,
    "toExpress(handle), or as a route toRoute(handle), from 'plant-store/express', or on node:http toNode(handle) from 'plant-store/node'",
  ],
];

/** The error to throw if another host has called than the adapter's: it says what to write there. */
export function wrongHost(given: unknown): TypeError {
  const [, line] = lines.find(([isHost]) => isHost(Object(given))) ?? [];
  return mountMistake(line && `plant-store: this adapter is for another host. Write ${line}.`);
}
