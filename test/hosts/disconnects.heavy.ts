import { describe } from 'vitest';
import { disconnectsOn, oneOfEachAdapter, wave } from './disconnects.js';
import { honoHosts, hosts } from './hosts.js';

// The rows that only mount an adapter elsewhere get one wave.
describe.each([...hosts, ...honoHosts])('on $name', (host) =>
  disconnectsOn(host, oneOfEachAdapter.includes(host) ? 10_000 : wave),
);
