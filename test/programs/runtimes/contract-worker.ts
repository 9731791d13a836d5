import { fetch } from './contract-app.js';

export default { fetch };
