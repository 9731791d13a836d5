// README's first table: what becomes of an id beyond 2^53, measured on each of them.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';
import { expect, it, onTestFinished } from 'vitest';
import { createPlant } from '../support/plants.js';
import { root } from '../support/root.js';
import { listen } from '../support/sockets.js';

const id = '9007199254740993';
type Plant = { readonly id: unknown };

/** Mounts `POST /plants`, keeps the id of each plant, and returns the URL. */
type Mount = (keep: (id: unknown) => void) => Promise<string>;

async function served(server: ReturnType<typeof createServer>): Promise<string> {
  const { url, close } = await listen(server);
  onTestFinished(close);
  return url;
}

const rows: readonly [name: string, mount: Mount][] = [
  [
    'Express, `express.json()`',
    (keep) => {
      const app = express().use(express.json());
      app.post('/plants', ({ body }, response) => void response.json({ kept: keep((body as Plant).id) }));
      return served(createServer(app));
    },
  ],
  [
    'Fastify',
    async (keep) => {
      const app = Fastify();
      app.post('/plants', async ({ body }) => ({ kept: keep((body as Plant).id) }));
      onTestFinished(() => app.close());
      return app.listen({ port: 0, host: '127.0.0.1' });
    },
  ],
  [
    'Hono, `c.req.json()`',
    async (keep) => {
      const app = new Hono();
      app.post('/plants', async (c) => c.json({ kept: keep((await c.req.json<Plant>()).id) }));
      return new Promise((resolve) => {
        const server = serve({ fetch: app.fetch, port: 0 }, ({ port }) =>
          resolve(`http://127.0.0.1:${port}`),
        );
        onTestFinished(() => void server.close());
      });
    },
  ],
  [
    '**plant-store**',
    (keep) => {
      const plants = new Map<bigint, NewPlant>();
      const set = plants.set.bind(plants);
      plants.set = (id, plant) => {
        keep(id);
        return set(id, plant);
      };
      return served(
        createServer(
          express().use(toExpress(createPlantStore(memoryStorage(plants), acceptTokens('secret')))),
        ),
      );
    },
  ],
];

it("README's table has what each of them keeps", async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  for (const [name, mount] of rows) {
    const kept: unknown[] = [];
    const url = await mount((id) => kept.push(id));
    await createPlant(url, `{"id":${id},"name":"Rosa canina"}`);
    expect(readme).toContain(`| ${name} | ${kept} |\n`);
  }
  expect(readme).toContain(`| \`{"id":${id},…}\` through | is stored as |\n`);
});
