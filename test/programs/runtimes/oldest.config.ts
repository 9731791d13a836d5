import { configOn } from './old-packages.js';
import { testsOfOldest } from './rooms.js';

/** The published cases and the faults on the oldest versions that run. */
export default configOn('oldest', testsOfOldest);
