/** An app with several storages, on runtimes that reach a database by `fetch`. */
import { acceptTokens, createPlantStore, type PlantStorage } from 'plant-store';
import { toFetch } from 'plant-store/fetch';

export const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) });

/** A driver for the database of `openDatabase`. */
export const driverTo = (urlOf: () => string) => ({
  async query(text: string, values: unknown[] = []) {
    const response = await post(urlOf(), { text, values });
    const { rows, error } = (await response.json()) as { rows: object[]; error?: object };
    if (error) throw Object.assign(new Error('database'), error);
    return { rows };
  },
});

/** Serves each storage under its base path. */
export function serve(storages: readonly [basePath: string, storage: PlantStorage, timeoutMs: number][]) {
  const handlers = storages.map(([basePath, storage, timeoutMs]) =>
    toFetch(createPlantStore(storage, acceptTokens('secret'), { basePath, timeoutMs, onError() {} })),
  );
  return async (request: Request): Promise<Response> => {
    for (const handle of handlers) {
      const response = await handle(request.clone());
      if (response.status !== 404) return response;
    }
    return new Response(null, { status: 404 });
  };
}
