/** The tests that mutants of a folder have to pass, the fastest first: no other process, and no test that only reads files. */
export const testFiles = {
  src: [
    'test/core/handle.test.ts',
    'test/core/options.test.ts',
    'test/core/callers.test.ts',
    'test/core/contract.test.ts',
    'test/core/deadline.test.ts',
    'test/core/parties.test.ts',
    'test/storages/group-commit-time.test.ts',
    'test/storages/group-commit.test.ts',
    'test/storages/broken.test.ts',
    'test/hosts/fetch.test.ts',
    'test/core/host-cases.test.ts',
    'test/core/openapi-client.test.ts',
    'test/core/openapi-document.test.ts',
    'test/core/ids.test.ts',
    'test/core/json.test.ts',
    'test/core/openapi-answers.test.ts',
    'test/storages/group-commit-model.test.ts',
  ],
  adapters: ['test/hosts/*.test.ts', 'test/storages/*.test.ts'],
};
