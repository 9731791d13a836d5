import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';
import { testsOfSources } from './rooms.js';

/** The tests of `core/`, `hosts/` and `storages/` that import a file of `src/` by its path, for other runtimes. */
const config = mergeConfig(base, {});
config.test = { ...base.test, include: [...testsOfSources] };
export default config;
