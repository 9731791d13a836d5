// A Durable Object for each garden, which stores its plants in its own SQLite.
import { DurableObject, env } from 'cloudflare:workers';
import { acceptTokens, createPlantStore } from 'plant-store';
import { toFetch } from 'plant-store/fetch';
import { sqliteStorage } from 'plant-store/sqlite';

export class Garden extends DurableObject {
  readonly #storage = sqliteStorage(this.ctx.storage);
  readonly #plants = toFetch(createPlantStore(this.#storage, acceptTokens(env.TOKEN)));

  override async fetch(request: Request): Promise<Response> {
    await this.#storage.createTable();
    return this.#plants(request);
  }
}

export default {
  fetch: (request: Request) => env.GARDEN.getByName('roses').fetch(request),
};
