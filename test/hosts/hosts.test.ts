import { describe } from 'vitest';
import { named } from '../support/titled.js';
import { hosts, moreHosts } from './hosts.js';
import { contractOn } from './suite.js';

describe.each(named([...hosts, ...moreHosts]))('the contract on %s', (_, host) => contractOn(host));
