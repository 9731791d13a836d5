import { mergeConfig } from 'vitest/config';
import { entries } from '../../../tsup.config.js';
import base from '../../vitest.config.js';

const root = base.root as string;

/** The tests of the hosts with the built package, for other versions of Node. */
const config = mergeConfig(base, {});
config.test = { ...base.test, include: ['test/hosts/{hosts,hono,uploads/body-matrix}.test.ts'] };
config.resolve = {
  alias: Object.keys(entries).map((name) => ({
    find: name === 'index' ? /^plant-store$/ : new RegExp(`^plant-store/${name}$`),
    replacement: `${root}dist/${name}.js`,
  })),
};
export default config;
