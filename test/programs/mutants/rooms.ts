export interface Room {
  /** The beginning of the paths of its files. */
  readonly path: string;
  /** Globs of the tests that could detect a change, without those that need a server or only read files. */
  readonly tests: readonly string[];
}

/** A file belongs to the first room that fits. */
export const rooms: readonly Room[] = [
  { path: 'src/group-commit/', tests: ['test/storages/group-commit*.test.ts'] },
  { path: 'src/client/', tests: ['test/core/client.test.ts'] },
  { path: 'src/document/', tests: ['test/{core,examples}/openapi*.test.ts'] },
  { path: 'src/plant/', tests: ['test/core/{contract,handle,json*,schema}.test.ts'] },
  {
    path: 'src/checks/',
    tests: [
      'test/core/{callers,client,options}.test.ts',
      'test/examples/first-mistakes.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/storages/{arguments,wrong-handles}.test.ts',
    ],
  },
  {
    path: 'src/timers',
    tests: ['test/core/{deadline,handle,upload}*.test.ts', 'test/storages/{group-commit*,status}.test.ts'],
  },
  {
    path: 'src/',
    tests: [
      'test/core/{callers,contract,deadline*,guard,handle,log,options,parties,shown,upload*}.test.ts',
      'test/hosts/{concealed,fetch,guard}.test.ts',
      'test/hosts/mounting/mistakes.test.ts',
      'test/hosts/node/*.test.ts',
      'test/storages/arguments.test.ts',
    ],
  },
  {
    path: 'adapters/hosts/',
    tests: [
      'test/hosts/*.test.ts',
      'test/hosts/{mounting,node}/*.test.ts',
      'test/hosts/uploads/body-matrix.test.ts',
    ],
  },
  {
    path: 'adapters/storages/memory',
    tests: ['test/storages/{memory,arguments}.test.ts', 'test/core/callers.test.ts'],
  },
  {
    path: 'adapters/storages/mysql',
    tests: ['test/storages/{mysql,refuse,arguments,wrong-handles}*.test.ts'],
  },
  {
    path: 'adapters/storages/_mysql/',
    tests: ['test/storages/{mysql,refuse,arguments,wrong-handles}*.test.ts'],
  },
  {
    path: 'adapters/storages/sqlite',
    tests: ['test/storages/{sqlite,refuse,arguments,wrong-handles}*.test.ts'],
  },
  { path: 'adapters/storages/_sqlite/', tests: ['test/storages/{sqlite,setup,refuse,errors}*.test.ts'] },
  {
    path: 'adapters/storages/',
    tests: [
      'test/storages/{postgres,mysql,server,setup,sqlite,refuse,errors,arguments,wrong-handles,peers,incidents}*.test.ts',
    ],
  },
  {
    path: 'test/published/',
    tests: ['test/core/{contract,host-cases}.test.ts', 'test/storages/broken.test.ts'],
  },
];
