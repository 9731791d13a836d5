// `npm run build` writes llms.txt anew.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.js';
import { llmsText } from './llms.js';

writeFileSync(join(root, 'llms.txt'), llmsText());
