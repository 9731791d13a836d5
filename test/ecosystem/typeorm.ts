import { load } from '../support/installed.js';
import type { Library } from './page-rows.js';

/** Opens a version of TypeORM. Before 0.3 it has connections, which have the driver of a data source. */
export async function typeOrm(name: string, options: { type: string; url: string }): Promise<Library> {
  const { DataSource, createConnection } = await load(name).then((module) => module.default ?? module);
  if (!DataSource) {
    const dataSource = await createConnection(options);
    return { scope: { dataSource }, close: () => dataSource.close() };
  }
  const dataSource = new DataSource(options);
  await dataSource.initialize();
  return { scope: { dataSource }, close: () => dataSource.destroy() };
}
