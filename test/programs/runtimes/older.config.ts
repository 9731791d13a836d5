import { configOn } from './old-packages.js';
import { testsOfOlder } from './rooms.js';

/** All other tests of `hosts/` and `storages/` on the oldest versions that have what these tests use. */
export default configOn('older', testsOfOlder);
