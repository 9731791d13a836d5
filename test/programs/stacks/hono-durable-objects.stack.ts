import { describe } from 'vitest';
import { readPage } from './page.js';
import { workerCases } from './worker-app.js';

describe('Hono on Workers, with a Durable Object for each tenant', () =>
  workerCases(readPage('hono-durable-objects').files));
