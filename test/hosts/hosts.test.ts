import { describe } from 'vitest';
import { named } from '../support/titled.js';
import { hosts, secureHosts } from './hosts.js';
import { contractOn } from './suite.js';

describe.each(named([...hosts, ...secureHosts]))('the contract on %s', (_, host) => contractOn(host));
