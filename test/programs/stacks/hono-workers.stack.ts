import { describe } from 'vitest';
import { workerCases } from './worker-app.js';

describe('Hono on Workers, with D1', () => workerCases());
