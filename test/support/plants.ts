import type { PlantRequest } from 'plant-store';
import { expect } from 'vitest';

export const rose = '{"id":1,"name":"Rosa canina"}';

/** A create, as a host passes it to a handler. */
export function createRequest(token: string, body: PlantRequest['body'] = rose): PlantRequest {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return { method: 'POST', url: '/plants', headers, body };
}

/**
 * Creates a plant as an app's client does, and returns the response, its body parsed. `mount` is everything before `/plants`,
 * `plant` the JSON text.
 */
export async function createPlant(mount: string, plant: string, token = 'secret') {
  const response = await fetch(`${mount}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: plant,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

/** What every mounted store must do: two ids that are the same double are two plants, and each is created once. */
export async function expectExactPlants(mount: string): Promise<void> {
  const rosa = '{"id":9007199254740993,"name":"Rosa canina","tag":"shrub"}';
  expect(await createPlant(mount, rosa)).toMatchObject({
    status: 200,
    body: { name: 'Rosa canina', tag: 'shrub' },
  });
  expect(await createPlant(mount, '{"id":9007199254740992,"name":"Ilex"}')).toMatchObject({
    status: 200,
    body: { name: 'Ilex' },
  });
  expect(await createPlant(mount, '{"id":9007199254740993,"name":"Ilex"}')).toMatchObject({
    status: 400,
    body: { error: 40003 },
  });
}
