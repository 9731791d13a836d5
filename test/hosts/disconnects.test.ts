import { describe } from 'vitest';
import { disconnectsOn, oneOfEachAdapter, wave } from './disconnects.js';

// disconnects.heavy.ts lets ten thousand go, and has every row of the table of hosts.
describe.each(oneOfEachAdapter)('on $name', (host) => disconnectsOn(host, wave));
