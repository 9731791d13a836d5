// fast-check with the seed of the run: the one import of it, so that no property draws a seed of its own.
import fc from 'fast-check';
import { seed } from './random.js';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

/** A UTF-16 unit, of a half of a surrogate pair too. Not the unit "binary" of `fc.string`, whose table takes seconds to build. */
export const anyUnit = fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0x7f }));

/** Any string of JavaScript. */
export const anyText = fc.array(anyUnit).map((units) => String.fromCharCode(...units));

export default fc;
