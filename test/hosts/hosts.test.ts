import { describe } from 'vitest';
import { hosts, secureHosts } from './hosts.js';
import { contractOn } from './suite.js';

describe.each([...hosts, ...secureHosts])('the contract table on $name', contractOn);
