import { mergeConfig } from 'vitest/config';
import { entries } from '../../../tsup.config.js';
import base from '../../vitest.config.js';
import { testsOfBuilt } from './rooms.js';

const root = base.root as string;

/** The tests of `core/`, `hosts/` and `storages/` with the built package, for other runtimes. */
const config = mergeConfig(base, {});
config.test = { ...base.test, include: [...testsOfBuilt] };
config.resolve = {
  alias: Object.keys(entries).map((name) => ({
    find: name === 'index' ? /^plant-store$/ : new RegExp(`^plant-store/${name}$`),
    replacement: `${root}dist/${name}.js`,
  })),
};
export default config;
