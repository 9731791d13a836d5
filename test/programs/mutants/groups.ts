/**
 * The tests that the mutants of a file have to pass, the fastest first. A file belongs to the first group that begins
 * its path. A test that needs a foreign server, or that only reads files, would cost minutes and kill nothing.
 */
export const groups: readonly { readonly files: readonly string[]; readonly tests: readonly string[] }[] = [
  {
    files: ['src/group-commit/', 'src/context.ts', 'src/timers.ts'],
    tests: [
      'test/storages/group-commit-time.test.ts',
      'test/storages/group-commit.test.ts',
      'test/hosts/node/leaving.test.ts',
      'test/hosts/fetch.test.ts',
      'test/core/deadline.test.ts',
      'test/storages/broken.test.ts',
      'test/storages/group-commit-model.test.ts',
    ],
  },
  { files: ['src/client.ts'], tests: ['test/core/client.test.ts'] },
  {
    files: ['src/openapi.ts'],
    tests: [
      'test/core/openapi-client.test.ts',
      'test/core/openapi-document.test.ts',
      'test/core/openapi-answers.test.ts',
    ],
  },
  {
    files: ['src/problems.ts'],
    tests: ['test/core/handle.test.ts', 'test/core/contract.test.ts', 'test/core/openapi-client.test.ts'],
  },
  {
    files: ['test/published/'],
    tests: ['test/core/contract.test.ts', 'test/storages/broken.test.ts', 'test/core/host-cases.test.ts'],
  },
  {
    files: ['src/plant/', 'src/schema.ts'],
    tests: [
      'test/core/schema.test.ts',
      'test/core/json-fast-path.test.ts',
      'test/core/handle.test.ts',
      'test/core/contract.test.ts',
      'test/core/ids.test.ts',
      'test/core/json.test.ts',
    ],
  },
  {
    files: ['src/'],
    tests: [
      'test/core/handle.test.ts',
      'test/core/contract.test.ts',
      'test/core/callers.test.ts',
      'test/core/guard.test.ts',
      'test/core/options.test.ts',
      'test/core/deadline.test.ts',
      'test/core/deadline-model.test.ts',
      'test/core/upload.test.ts',
      'test/hosts/fetch.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/core/parties.test.ts',
    ],
  },
  {
    files: ['adapters/hosts/fetch.ts'],
    tests: [
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
      'test/hosts/node/http2.test.ts',
      'test/hosts/node/headers.test.ts',
      'test/hosts/node/body.test.ts',
      'test/hosts/company/in-front.test.ts',
      'test/hosts/uploads/body-matrix.test.ts',
      'test/hosts/node/refusal.test.ts',
    ],
  },
  {
    files: ['adapters/hosts/'],
    tests: [
      'test/hosts/mounting/broken-answer.test.ts',
      'test/hosts/node/leaving.test.ts',
      'test/hosts/node/headers.test.ts',
      'test/hosts/company/in-front.test.ts',
      'test/hosts/mounting/guest.test.ts',
      'test/hosts/mounting/mounts.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/hosts/mounting/fastify-schema.test.ts',
    ],
  },
  {
    files: ['adapters/storages/mysql.ts', 'adapters/storages/_mysql-errors.ts'],
    tests: ['test/storages/mysql.test.ts'],
  },
  { files: ['adapters/storages/sqlite.ts'], tests: ['test/storages/sqlite.test.ts'] },
  { files: ['adapters/storages/memory.ts'], tests: ['test/core/callers.test.ts'] },
  {
    files: ['adapters/storages/'],
    tests: [
      'test/storages/mysql.test.ts',
      'test/storages/sqlite.test.ts',
      'test/storages/postgres-connection.test.ts',
      'test/storages/postgres.test.ts',
    ],
  },
];
