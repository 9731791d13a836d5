// fast-check with the seed of the run: the one import of it, so that no property draws a seed of its own.
import fc from 'fast-check';
import { seed } from './random.js';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
