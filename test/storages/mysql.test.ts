import { type MysqlConnection, type MysqlStatement, mysqlStorage, schema } from 'plant-store/mysql';
import { describe, expect, it } from 'vitest';

// What needs no server. test/cluster runs the storage on real servers, alone and in a cluster.

const context = {
  caller: 'anyone',
  request: { method: 'POST', url: '/plants', headers: {} },
  signal: new AbortController().signal,
};
const inserted = { serverStatus: 2 };

/** A pool with prepared answers to the statements, in order: an error to throw, rows, or a result. */
function answering(...answers: unknown[]) {
  const log: string[] = [];
  const connection: MysqlConnection = {
    async execute({ sql, values }: MysqlStatement) {
      log.push(`${sql.split(' ', 1)[0]} ${values.join()}`);
      const answer = answers.shift() ?? inserted;
      if (answer instanceof Error) throw answer;
      return [answer, undefined];
    },
    unprepare: () => log.push('unprepare'),
    release: () => log.push('release'),
    destroy: () => log.push('destroy'),
  };
  return { log, pool: { getConnection: async () => connection } };
}

function mysqlError(properties: {
  errno?: number;
  sqlState?: string;
  code?: string;
  fatal?: boolean;
}): Error {
  return Object.assign(new Error('from the driver'), properties);
}

describe('mysqlStorage', () => {
  it.each<[string, number, string]>([
    ['a deadlock, or a conflict between Galera nodes', 1213, '40001'],
    ['a node without its cluster', 1047, '08S01'],
    ['a lock that was not released in time', 1205, 'HY000'],
    ['a server that became read-only', 1290, 'HY000'],
    ['a server that is full', 1040, '08004'],
    ['TiDB: a transaction to be retried', 8022, 'HY000'],
    ['TiDB: a write conflict', 9007, 'HY000'],
  ])('sends again what was surely rolled back: %s', async (_, errno, sqlState) => {
    const { pool, log } = answering(mysqlError({ errno, sqlState }));
    const { create } = mysqlStorage(pool);
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(log).toEqual(['INSERT 1,Rosa,', 'release', 'INSERT 1,Rosa,', 'release']);
  });

  it.each([
    ['the commit itself failed', mysqlError({ errno: 1180, sqlState: 'HY000' }), 'release'],
    ['the statement was interrupted', mysqlError({ errno: 1317, sqlState: '70100' }), 'release'],
    ['the server shuts down', mysqlError({ errno: 1053, sqlState: '08S01' }), 'release'],
    ['the connection was lost', mysqlError({ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }), 'destroy'],
    ['the connection was refused in mid-use', mysqlError({ code: 'ECONNREFUSED', fatal: true }), 'destroy'],
    ['the driver gave up', mysqlError({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }), 'destroy'],
  ])('leaves an unknown outcome unknown and sends nothing again: %s', async (_, error, then) => {
    const { pool, log } = answering(error);
    const { create } = mysqlStorage(pool);
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toBe(error);
    expect(log).toEqual(['INSERT 1,Rosa,', then]);
  });

  it('connects again when a connection is refused, because nothing was sent', async () => {
    const { pool, log } = answering();
    const refused = [
      mysqlError({ code: 'ECONNREFUSED', fatal: true }),
      mysqlError({ errno: 1040, sqlState: '08004' }),
    ];
    const { create } = mysqlStorage({
      getConnection: () => (refused.length > 0 ? Promise.reject(refused.shift()) : pool.getConnection()),
    });
    expect(await create({ id: 1n, name: 'Rosa' }, context)).toBe('created');
    expect(log).toEqual(['INSERT 1,Rosa,', 'release']);
  });

  it('fails at once if the password is wrong', async () => {
    const denied = mysqlError({ errno: 1045, sqlState: '28000' });
    const { create, find } = mysqlStorage({ getConnection: () => Promise.reject(denied) });
    await expect(create({ id: 1n, name: 'Rosa' }, context)).rejects.toBe(denied);
    await expect(find(1n, context)).rejects.toBe(denied);
  });

  it('if an id is stored already, asks which ids are, and sends the other plants again', async () => {
    const { pool, log } = answering(mysqlError({ errno: 1062, sqlState: '23000' }), [['2']]);
    const { create } = mysqlStorage(pool);
    const outcomes = [1n, 2n, 3n].map((id) => create({ id, name: 'Rosa' }, context));
    expect(await Promise.all(outcomes)).toEqual(['created', 'taken', 'created']);
    expect(log).toEqual([
      'INSERT 1,Rosa,,2,Rosa,,3,Rosa,',
      'unprepare',
      'SELECT 1,2,3',
      'INSERT 1,Rosa,,3,Rosa,',
      'unprepare',
      'release',
    ]);
  });

  it('never says taken if it cannot see the row', async () => {
    const duplicate = mysqlError({ errno: 1062, sqlState: '23000' });
    const { pool } = answering(duplicate, []);
    await expect(mysqlStorage(pool).create({ id: 1n, name: 'Rosa' }, context)).rejects.toBe(duplicate);
  });

  it.each(['', '.', 'a.', 'a.b.c', 'a\0b', 7 as never])('refuses the table %j at once', (table) => {
    expect(() => mysqlStorage(answering().pool, { table })).toThrow(TypeError);
  });

  it('exports the schema of its table', () => {
    expect(schema).toMatch(/^CREATE TABLE IF NOT EXISTS `plants` \(id BIGINT PRIMARY KEY/);
  });
});
