/** The operation as an engineer writes it by hand who wants it fast: only the checks that it requires. */
import { path, token } from './load.js';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface ParsedPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string | undefined;
}

/** What is kept: by a number, as people write it, though it is not exact beyond 2^53. */
export type BaselinePlants = Map<number, ParsedPlant>;

/** Keeps a plant, unless there is one of its id. */
export function store(plants: BaselinePlants, { id, name, tag }: ParsedPlant): boolean {
  if (plants.has(id)) return false;
  plants.set(id, { id, name, tag });
  return true;
}

const refuse = (status: number, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: status * 100 + 1, message }),
});

/** Whether the headers let the body be read at all. */
export function refuseHead(
  method: string | undefined,
  url: string | undefined,
  headers: { readonly [name: string]: string | string[] | undefined },
): Answer | undefined {
  if (url !== path) return refuse(404, 'not found');
  if (method !== 'POST') return refuse(405, 'POST only');
  if (headers.authorization !== `Bearer ${token}`) return refuse(401, 'invalid token');
  if (headers['content-type'] !== 'application/json') return refuse(400, 'JSON only');
  return undefined;
}

/** What is wrong with a plant, if something is. */
export function mistakeIn({ id, name, tag }: ParsedPlant): string | undefined {
  if (!Number.isSafeInteger(id)) return 'id must be an integer';
  if (typeof name !== 'string') return 'name must be a string';
  if (tag !== undefined && typeof tag !== 'string') return 'tag must be a string';
  return undefined;
}

/** Stores the plant of a body. */
export function create(plants: BaselinePlants, body: string): Answer {
  let plant: ParsedPlant;
  try {
    plant = JSON.parse(body);
  } catch {
    return refuse(400, 'not JSON');
  }
  const mistake = mistakeIn(plant);
  if (mistake) return refuse(400, mistake);
  if (!store(plants, plant)) return refuse(400, 'the id is taken');
  return { status: 200, body: JSON.stringify({ name: plant.name, tag: plant.tag }) };
}
