// Libraries that find the transaction of a request, or send a query again, by themselves.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Any, load } from '../support/installed.js';
import { type Addresses, type Hooked, mikroOrm, name, sequelize, slonik } from './hooked-postgres.js';

/** What CLS needs of a namespace, as cls-hooked has it. */
function namespace() {
  const stores = new AsyncLocalStorage<Map<string, unknown>>();
  return {
    bind: (run: unknown) => run,
    run: (run: () => unknown) => stores.run(new Map(stores.getStore()), run),
    get: (key: string) => stores.getStore()?.get(key),
    set: (key: string, value: unknown) => stores.getStore()?.set(key, value),
  };
}

/** Libraries whose calls find the transaction of the request by themselves. */
export const transactional: Readonly<Record<string, (addresses: Addresses) => Promise<Transactional>>> = {
  async MikroORM({ url }) {
    const opened = await mikroOrm(url, {});
    const { em } = opened.scope.orm as Any;
    const rollBack = (run: () => Promise<void>) =>
      rolledBack((fail) => em.transactional(() => run().then(fail)));
    return { ...opened, insert: (id) => em.insert('Plant', { id: String(id), name }), rollBack };
  },
  async Sequelize({ url }) {
    const { Sequelize } = (await load('sequelize')).default;
    Sequelize.useCLS(namespace());
    const opened = await sequelize(url, {});
    const { sequelize: db } = opened.scope as Any;
    const close = async () => {
      delete Sequelize._cls;
      await opened.close();
    };
    const rollBack = (run: () => Promise<void>) =>
      rolledBack((fail) => db.transaction(() => run().then(fail)));
    return { ...opened, close, rollBack };
  },
};

interface Transactional extends Hooked {
  /** Runs something in a transaction that it rolls back. */
  readonly rollBack: (run: () => Promise<void>) => Promise<void>;
}

async function rolledBack(run: (fail: () => never) => Promise<unknown>): Promise<void> {
  const end = new Error('rolled back');
  const fail = () => {
    throw end;
  };
  await run(fail).catch((error) => {
    if (error !== end) throw error;
  });
}

const retry = { max: 5, match: [/./] };

/** Libraries that send a query again by themselves. After a comma, an old version. */
export const retrying: Readonly<Record<string, (addresses: Addresses) => Promise<Hooked>>> = {
  Sequelize: ({ url }) => sequelize(url, { retry }),
  'Sequelize, 5.1': ({ url }) => sequelize(url, { retry }, () => {}, 'sequelize-oldest'),
  slonik: ({ url }) => slonik(url, {}),
};
