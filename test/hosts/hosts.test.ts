import { describe } from 'vitest';
import { hosts } from './hosts.js';
import { contractOn } from './suite.js';

describe.each(hosts)('the contract table on $name', contractOn);
