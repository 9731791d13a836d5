import { fetch } from './contract-app.js';
import { listen } from './listen.js';

listen(fetch);
