/** The tests of `core/`, `hosts/` and `storages/` that fail on another runtime or with an old package, and why. All others pass. */
import type { RuntimeName } from './runtimes.js';

export interface Exception {
  /** `older` and `oldest` are the oldest Node with the packages of these folders. */
  readonly on: readonly (RuntimeName | 'older' | 'oldest')[];
  /** Below `test/`. */
  readonly file: string;
  /** Matches the full titles of the tests. */
  readonly tests: RegExp;
  readonly why: string;
  /** Not run: it would wait for its timeout, or it passes sometimes. Every other one has to fail, so that the list stays true. */
  readonly isSkipped?: boolean;
}

export const exceptions: readonly Exception[] = [
  {
    on: ['bun', 'deno'],
    file: 'hosts/hono.test.ts',
    // Without those that send GET or HEAD.
    tests:
      /the contract on Hono, by app\.mount (?!(path-get|path-head|method-get|method-query|method-head):)/,
    why: "the Request that @hono/node-server puts in place of the global one cannot be built from another there: app.mount's TypeError",
  },
  {
    on: ['bun', 'deno'],
    file: 'hosts/uploads/whole-body.test.ts',
    tests: /on Hono, by app\.mount/,
    why: "app.mount's TypeError, as above",
  },
  {
    on: ['deno'],
    file: 'hosts/uploads/whole-body.test.ts',
    tests: /one buffer of several, on (node:https|node:http2|Fastify 5 on HTTP\/2)/,
    why: 'Deno 2.9.6 ends with a segmentation fault after TLS and HTTP/2 by turns, in one run of ten',
    isSkipped: true,
  },
  {
    on: ['bun', 'deno'],
    file: 'hosts/uploads/hang-ups.sized.test.ts',
    tests: /on Hono, by app\.mount a body of/,
    why: "app.mount's TypeError, as above: the test would wait for a response",
    isSkipped: true,
  },
  {
    on: ['bun', 'deno'],
    file: 'hosts/concealed.test.ts',
    tests: /on Hono, by app\.mount/,
    why: "app.mount's TypeError, as above",
  },
  {
    on: ['bun', 'deno'],
    file: 'core/upload.test.ts',
    tests: /is read one chunk an iteration of the event loop|is one of a hundred/,
    why: 'Bun delivers some nine messages a turn of its event loop, and Deno, in a worker as vitest has, all: sockets are served between them',
  },
  {
    on: ['deno'],
    file: 'storages/sqlite-blocking.test.ts',
    tests: /gets all creates of an iteration of the event loop in one batch/,
    why: 'Deno, in a worker as vitest has, delivers a message after a few microtasks of a turn: it makes two batches',
  },
  {
    on: ['bun', 'deno'],
    file: 'hosts/company/fake-timers.test.ts',
    tests: /responds to creates, to rejected requests and to the app's own routes/,
    why: 'node:http of Bun, and Koa on Deno, take nextTick from the global process, which the test fakes: they hang without plant-store, too',
    isSkipped: true,
  },
  {
    on: ['bun'],
    file: 'core/upload-time.test.ts',
    tests:
      /toNode responds to a client with an invalid token that|toNode closes the connection of a client|over HTTP\/1, toNode waits for nothing/,
    why: "Bun's own node:http takes its timers from the global setTimeout, which the test simulates",
    isSkipped: true,
  },
  {
    on: ['bun'],
    file: 'hosts/node/refusal.test.ts',
    tests: /the server ends the response first on a connection that closes/,
    why: "Bun's node:http destroys the socket as it ends a response with Connection: close",
  },
  {
    on: ['bun'],
    file: 'hosts/node/headers.test.ts',
    tests: /a request with (asterisk-form|a scheme without hosts) returns 40401/,
    why: "Bun's node:http responds 400 to OPTIONS * and to a scheme other than HTTP's by itself",
  },
  {
    on: ['bun'],
    file: 'hosts/node/headers.test.ts',
    tests: /chunks count, and not a length beside them/,
    why: 'Bun has no lenient parser: it refuses a length beside chunks by itself',
    isSkipped: true,
  },
  {
    on: ['bun'],
    file: 'hosts/mounting/broken-answer.test.ts',
    tests: /on Koa [23], plain headers that do not go together, such as Trailer with a length, become a 500/,
    why: "Bun's node:http sends a Trailer header next to a length that setHeader declared",
  },
  {
    on: ['bun'],
    file: 'hosts/mounting/broken-answer.test.ts',
    tests: /toNode closes the connection of a response whose headers cannot be set at all/,
    why: "Bun's node:http sends the head of a response, as a 200, whose socket is destroyed before a byte of it was written",
  },
  {
    on: ['deno'],
    file: 'hosts/fetch.test.ts',
    tests: /a body that its client breaks off is body_incomplete, as in a declared length on Bun/,
    why: 'Deno leaves bodyUsed false if the stream of a constructed Request has failed before it is read; one of Deno.serve has it true',
  },
  {
    on: ['deno'],
    file: 'hosts/fetch.test.ts',
    tests: /a body that the host has cut|was cut by the host/,
    why: "Deno's signal does not tell a client that has disconnected from a host that has cut the body: 40007",
  },
  {
    on: ['deno'],
    file: 'hosts/uploads/body-matrix.test.ts',
    tests: /express\.json\(\) in front of Hono (a plant|a body that is not UTF-8|a byte order mark)/,
    why: "Deno's signal does not tell, as above",
  },
  {
    on: ['deno'],
    file: 'core/upload-time.test.ts',
    tests: /over HTTP\/2, toNode waits for nothing/,
    why: "Deno's node:http2 ends the stream of a body more than a message after its last frame",
  },
  {
    on: ['deno'],
    file: 'hosts/assumptions.test.ts',
    tests: /Node delivers a message of a channel .* is noticed if it does not/,
    why: "Deno's node:http has the whole packet before it calls its listener, so that a microtask is late enough",
  },
  {
    on: ['deno'],
    file: 'hosts/uploads/body-matrix.test.ts',
    tests:
      /keeps the first chunk as rawBody and leaves the remaining body on .* (a plant|a body|a byte order mark)/,
    why: "Deno's node:http has ended the stream of a body of one packet by then, so plant-store knows that rawBody is whole",
  },
  {
    on: ['deno'],
    file: 'hosts/uploads/uploads.sized.test.ts',
    tests: /on node:http with \{ body: request \} a request after an upload of 2 MiB that was rejected/,
    why: "Deno's node:http closes a connection whose body was not read when the response ended",
    isSkipped: true,
  },
  {
    on: ['deno'],
    file: 'hosts/uploads/uploads.sized.test.ts',
    tests:
      /an upload that (is rejected early, on node:http2 a client|comes a byte at a time .* cut off on node:http2$)|clients of node:http2 that (upload without end|close their writing side in the middle)/,
    why: "the stream of Deno's HTTP/2 client that is reset with NO_ERROR after a complete response ends with an error, or never",
    isSkipped: true,
  },
  {
    on: ['deno'],
    file: 'storages/group-commit.test.ts',
    tests: /also starts on platforms without setImmediate, and not in a microtask/,
    why: 'in a worker of Deno, as vitest has, a message arrives between two microtasks; in its main thread after them',
  },
  {
    on: ['older'],
    file: 'hosts/guard.test.ts',
    tests: /on Hono, a guarded route sends the app's own response for (204|205|304|allow|created),/,
    why: '@hono/node-server 1 gives a response without a type its own: text/plain',
  },
  {
    on: ['older'],
    file: 'storages/wrong-handles.test.ts',
    tests: /a Client that nobody connected is told/,
    why: 'a client of pg shows whether it is connected from 8.21 on',
  },
  {
    on: ['older'],
    file: 'hosts/mounting/fastify-schema.test.ts',
    tests: /by the app's options for paths \{"routerOptions".*(?<!%70lants) returns 401/,
    why: 'Fastify has routerOptions from 5.5 on',
  },
  {
    on: ['oldest'],
    file: 'hosts/hosts.test.ts',
    tests: /the contract on Fastify 5.* path-semicolon:/,
    why: 'Fastify 3 and 4 take a semicolon for the beginning of the query',
  },
  {
    on: ['oldest'],
    file: 'storages/errors.test.ts',
    tests: /a login that cannot work without a password is an outage, and says why/,
    why: 'up to pg 8.8 a login whose password is missing throws where nobody can catch it, and hangs: it is an outage, which does not say why',
    isSkipped: true,
  },
  {
    on: ['oldest'],
    file: 'storages/assumptions.test.ts',
    tests: /it is true that .?getTransactionStatus of a client/,
    why: 'it is in pg 8.21 and later',
  },
  {
    on: ['oldest'],
    file: 'storages/errors.test.ts',
    tests: /postgres\.js rejects the plant of a constraint that fails at COMMIT/,
    why: 'postgres.js before 3.4.8 drops the error of a COMMIT: the outcome is unknown, and never created',
  },
];
