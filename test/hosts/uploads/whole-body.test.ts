// Every byte of a body is read: however it is cut, whenever it comes, and whatever one `read()` of the runtime returns.
import { describe } from 'vitest';
import { named } from '../../support/titled.js';
import { moreHosts, oneMountOfEach, oneOfEachAdapter } from '../hosts.js';
import { readByBuffers, wholeBodiesOn } from './whole-body.js';

describe.each(named([...oneOfEachAdapter, ...moreHosts]))('a body on %s', (_, host) => wholeBodiesOn(host));

describe.each(named([...oneMountOfEach, ...moreHosts]))(
  'a body of which read() returns one buffer of several, on %s',
  (_, host) => wholeBodiesOn(host, readByBuffers),
);
