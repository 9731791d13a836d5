// What every page of examples/stacks/ promises of its app.
import { expect, it } from 'vitest';

/** An app while it runs. */
export interface RunningApp {
  /** Its origin. */
  readonly url: string;
  /** A JSON Web Token of a caller of this tenant. */
  readonly tokenOf: (tenant: 'garden' | 'park') => string | Promise<string>;
}

/** The ends of the int64 range, and ids that a JavaScript number would round to each other. */
const ids = [
  '-9223372036854775808',
  '0',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775807',
] as const;

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly tag?: string | null;
}

/** Registers the cases. They build on each other, and expect a table without plants. */
export function stackCases(running: () => RunningApp): void {
  const request = async (path: string, token: string, body?: string) => {
    const response = await fetch(`${running().url}/api/plants${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what an app answers is what the cases look at
    return [response.status, (await response.json()) as any] as const;
  };
  const create = async (tenant: 'garden' | 'park', body: string) =>
    request('', await running().tokenOf(tenant), body);
  const read = async (tenant: 'garden' | 'park', path = '') => request(path, await running().tokenOf(tenant));
  const isError = (error: number) => expect.objectContaining({ error });
  const shown = ({ id, name, tag }: Shown) => ({ id, name, tag: tag ?? undefined });

  it('creates a plant of each id, once', async () => {
    for (const id of ids)
      expect(await create('garden', `{"id":${id},"name":"Rosa ${id}","tag":"shrub"}`)).toEqual([
        200,
        { name: `Rosa ${id}`, tag: 'shrub' },
      ]);
    expect(await create('garden', `{"id":${ids[3]},"name":"Rosa"}`)).toEqual([400, isError(40003)]);
  });

  it('rejects a wrong token, and a wrong body', async () => {
    expect(await request('', 'wrong', '{"id":1,"name":"Rosa"}')).toEqual([401, isError(40102)]);
    expect(await create('garden', '{"id":1}')).toEqual([400, isError(40002)]);
    expect((await request('', 'wrong'))[0]).toBe(401);
    expect((await request(`/${ids[0]}`, 'wrong'))[0]).toBe(401);
  });

  it('gives another tenant ids of its own', async () => {
    expect(await create('park', `{"id":${ids[3]},"name":"Quercus"}`)).toEqual([200, { name: 'Quercus' }]);
    const [status, plants] = await read('park');
    expect(status).toBe(200);
    expect(plants.map(shown)).toEqual([{ id: ids[3], name: 'Quercus', tag: undefined }]);
  });

  it('lists the plants of a tenant with exact ids', async () => {
    const [status, plants] = await read('garden');
    expect(status).toBe(200);
    const expected = ids.map((id) => ({ id, name: `Rosa ${id}`, tag: 'shrub' }));
    expect(plants.map(shown)).toHaveLength(ids.length);
    expect(plants.map(shown)).toEqual(expect.arrayContaining(expected));
  });

  it('finds one plant by its id, and never its neighbour or that of another tenant', async () => {
    for (const id of ids) {
      const [status, plant] = await read('garden', `/${id}`);
      expect([status, shown({ id, ...plant })]).toEqual([200, { id, name: `Rosa ${id}`, tag: 'shrub' }]);
    }
    for (const path of ['/9007199254740994', '/9007199254740991', '/1'])
      expect((await read('garden', path))[0]).toBe(404);
    expect((await read('park', `/${ids[2]}`))[0]).toBe(404);
    expect((await read('garden', '/9223372036854775808'))[0]).toBe(400);
    expect((await read('garden', '/rosa'))[0]).toBe(400);
  });
}
