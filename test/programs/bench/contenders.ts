import type { Contender, Contenders } from './contender.js';

/** By the file they are in: a process loads what its contender needs. */
const files: Record<string, () => Promise<Contenders>> = {
  hosts: async () => (await import('./hosts.js')).hosts,
  fetch: async () => (await import('./fetch.js')).fetches,
  handles: async () => (await import('./handles.js')).handles,
  json: async () => (await import('./json.js')).json,
  databases: async () => (await import('./databases.js')).databases,
  footprints: async () => (await import('./footprints.js')).footprints,
};

/** Opens a contender by its name, such as `hosts/toNode`, or with details, `handles/handle 30000`. */
export async function openContender(name: string): Promise<Contender> {
  const [which = '', ...details] = name.split(' ');
  const [file = '', key = ''] = which.split('/');
  const open = (await files[file]?.())?.[key];
  if (!open) throw new Error(`there is no contender ${name}`);
  return open(...details);
}
