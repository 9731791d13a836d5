// A Durable Object for each garden, which stores its plants in its own SQLite. Tenants: `stacks/hono-durable-objects.md`.
import { DurableObject, env } from 'cloudflare:workers';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { schema, sqliteStorage } from 'plant-store/sqlite';

export class Garden extends DurableObject {
  readonly #plants = toFetch(createPlantStore(sqliteStorage(this.ctx.storage), acceptTokens(env.TOKEN)));

  constructor(...own: ConstructorParameters<typeof DurableObject>) {
    super(...own);
    this.ctx.storage.sql.exec(schema); // once for each start of the object, not for each request
  }

  override fetch(request: Request): Promise<Response> {
    return this.#plants(request);
  }
}

export default {
  fetch: (request: Request) => env.GARDEN.getByName('roses').fetch(request),
};
