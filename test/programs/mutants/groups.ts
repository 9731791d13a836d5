import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/root.js';

/** The files that are mutated, by their paths from the root. */
export function sourceFiles(): string[] {
  return ['src', 'adapters', 'test/published'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
}

/**
 * The tests that the mutants of a file have to pass, the fastest first. A file belongs to the group that has it, its folder
 * or the beginning of its name: `kept.test.ts` holds each file to exactly one. A test that needs a foreign server, or that only reads files, would cost minutes and kill nothing.
 */
export const groups: readonly {
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** After which a test counts as hanging: several times what the slowest takes. Default: 10 000. */
  readonly testTimeoutMs?: number;
}[] = [
  {
    // On a simulated clock alone, which takes milliseconds: every third mutant hangs.
    files: ['src/group-commit/'],
    testTimeoutMs: 3_000,
    tests: [
      'test/storages/group-commit-time.test.ts',
      'test/storages/group-commit-fairness.test.ts',
      'test/storages/group-commit.test.ts',
      'test/storages/group-commit-model.test.ts',
    ],
  },
  {
    files: ['src/context.ts', 'src/timers.ts'],
    tests: [
      'test/hosts/node/leaving.test.ts',
      'test/hosts/fetch.test.ts',
      'test/core/deadline.test.ts',
      'test/storages/group-commit.test.ts',
      'test/storages/group-commit-time.test.ts',
      'test/storages/broken.test.ts',
    ],
  },
  { files: ['src/client'], tests: ['test/core/client.test.ts'] },
  {
    files: ['src/openapi'],
    tests: [
      'test/core/openapi-client.test.ts',
      'test/core/openapi-document.test.ts',
      'test/core/openapi-merge.test.ts',
      'test/core/openapi-answers.test.ts',
    ],
  },
  {
    files: ['src/problems.ts'],
    tests: [
      'test/core/handle.test.ts',
      'test/core/client.test.ts',
      'test/core/guard.test.ts',
      'test/core/contract.test.ts',
      'test/core/openapi-client.test.ts',
      'test/hosts/node/refusal.test.ts',
    ],
  },
  {
    files: ['test/published/'],
    tests: ['test/core/contract.test.ts', 'test/storages/broken.test.ts', 'test/core/host-cases.test.ts'],
  },
  {
    files: ['src/plant/', 'src/schema.ts'],
    tests: [
      'test/core/json-fast-path.test.ts',
      'test/core/handle.test.ts',
      'test/core/contract.test.ts',
      'test/core/ids.test.ts',
      'test/core/schema.test.ts',
      'test/core/json.test.ts',
    ],
  },
  {
    files: [
      'src/bearer.ts',
      'src/body.ts',
      'src/deadline.ts',
      'src/for-hosts.ts',
      'src/guard.ts',
      'src/http.ts',
      'src/index.ts',
      'src/lazy-signal.ts',
      'src/mount-mistakes.ts',
      'src/options.ts',
      'src/parties.ts',
      'src/plant-store.ts',
      'src/report.ts',
      'src/storage.ts',
      'src/upload.ts',
    ],
    tests: [
      'test/core/handle.test.ts',
      'test/core/contract.test.ts',
      'test/core/callers.test.ts',
      'test/core/guard.test.ts',
      'test/core/options.test.ts',
      'test/core/deadline.test.ts',
      'test/core/deadline-model.test.ts',
      'test/hosts/node/leaving.test.ts',
      'test/core/upload.test.ts',
      'test/hosts/fetch.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/core/parties.test.ts',
    ],
  },
  {
    files: ['adapters/hosts/fetch.ts', 'adapters/hosts/_shared-timer.ts'],
    tests: [
      'test/hosts/shared-timer.test.ts',
      'test/hosts/fetch.test.ts',
      'test/hosts/mounting/broken-answer.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/hosts/uploads/body-matrix.test.ts',
      'test/hosts/hono.test.ts',
    ],
  },
  {
    files: ['adapters/hosts/_node/drain.ts', 'adapters/hosts/_node/body.ts'],
    tests: [
      'test/hosts/node/stand-ins.test.ts',
      'test/hosts/node/http2.test.ts',
      'test/hosts/node/headers.test.ts',
      'test/hosts/node/body.test.ts',
      'test/hosts/company/in-front.test.ts',
      'test/hosts/uploads/body-matrix.test.ts',
      'test/hosts/node/refusal.test.ts',
    ],
  },
  {
    files: [
      'adapters/hosts/_node/exchange.ts',
      'adapters/hosts/_node/mount.ts',
      'adapters/hosts/_node/request.ts',
      'adapters/hosts/_node/respond.ts',
      'adapters/hosts/_node/types.ts',
      'adapters/hosts/express.ts',
      'adapters/hosts/fastify.ts',
      'adapters/hosts/koa.ts',
      'adapters/hosts/node.ts',
    ],
    tests: [
      'test/hosts/mounting/broken-answer.test.ts',
      'test/hosts/node/stand-ins.test.ts',
      'test/hosts/mounting/second-operation.test.ts',
      'test/hosts/node/leaving.test.ts',
      'test/hosts/node/headers.test.ts',
      'test/hosts/company/in-front.test.ts',
      'test/hosts/mounting/guest.test.ts',
      'test/hosts/mounting/mounts.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/hosts/mounting/fastify-schema.test.ts',
    ],
  },
  { files: ['adapters/storages/memory.ts'], tests: ['test/core/callers.test.ts'] },
  {
    files: ['adapters/storages/mysql.ts', 'adapters/storages/_mysql'],
    tests: ['test/storages/mysql.test.ts', 'test/storages/refuse.test.ts'],
  },
  {
    files: ['adapters/storages/sqlite.ts', 'adapters/storages/_sqlite'],
    tests: ['test/storages/sqlite.test.ts', 'test/storages/refuse.test.ts'],
  },
  {
    files: ['adapters/storages/postgres.ts', 'adapters/storages/_postgres'],
    tests: [
      'test/storages/postgres-connection.test.ts',
      'test/storages/refuse.test.ts',
      'test/storages/postgres.test.ts',
      'test/storages/postgres-prepared.test.ts',
      'test/storages/postgres-tables.test.ts',
    ],
  },
  {
    files: [
      'adapters/storages/_columns.ts',
      'adapters/storages/_connector.ts',
      'adapters/storages/_rows.ts',
      'adapters/storages/_server.ts',
      'adapters/storages/_sql.ts',
      'adapters/storages/_table.ts',
      'adapters/storages/_watch.ts',
    ],
    tests: [
      'test/storages/mysql.test.ts',
      'test/storages/sqlite.test.ts',
      'test/storages/postgres-connection.test.ts',
      'test/storages/refuse.test.ts',
      'test/storages/postgres.test.ts',
    ],
  },
];
