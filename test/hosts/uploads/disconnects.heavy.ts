import { describe } from 'vitest';
import { honoHosts, hosts } from '../hosts.js';
import { disconnectsOn, oneOfEachAdapter, wave } from './disconnects.js';

// Mounts that share an adapter with another row get one wave.
describe.each([...hosts, ...honoHosts])('on $name', (host) =>
  disconnectsOn(host, oneOfEachAdapter.includes(host) ? 10_000 : wave),
);
