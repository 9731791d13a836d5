import { describe } from 'vitest';
import { disconnectsOn, oneOfEachAdapter, wave } from './disconnects.js';

// disconnects.heavy.ts does this with ten thousand clients, and on every mount.
describe.each(oneOfEachAdapter)('on $name', (host) => disconnectsOn(host, wave));
