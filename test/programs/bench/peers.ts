/** What people pick on Bun and Deno, written as the documentation of each writes it. */
import { vValidator } from '@hono/valibot-validator';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import { type BaselinePlant, store } from './baseline.js';
import type { Listening } from './contender.js';
import { path, token } from './load.js';

const newPlant = v.object({
  id: v.pipe(v.number(), v.safeInteger()),
  name: v.string(),
  tag: v.optional(v.string()),
});

export function hono(): Hono {
  const plants = new Map<number, BaselinePlant>();
  const app = new Hono();
  app.use(path, bearerAuth({ token }));
  app.post(path, bodyLimit({ maxSize: 1024 * 1024 }), vValidator('json', newPlant), (context) => {
    const plant = context.req.valid('json');
    if (!store(plants, plant)) return context.json({ error: 40003, message: 'the id is taken' }, 400);
    return context.json({ name: plant.name, tag: plant.tag });
  });
  return app;
}

/** Elysia is installed next to Bun, because nothing else needs it. */
export async function elysia(): Promise<Listening> {
  const { Elysia, t } = await import(`${process.env.BENCH_PEERS}/elysia/dist/index.mjs`);
  const plants = new Map<number, BaselinePlant>();
  const app = new Elysia()
    // biome-ignore lint/suspicious/noExplicitAny: the package is not there when types are checked
    .onError(({ code, status }: any) => {
      if (code === 'VALIDATION' || code === 'PARSE')
        return status(400, { error: 40002, message: 'bad plant' });
    })
    .post(
      path,
      // biome-ignore lint/suspicious/noExplicitAny: as above
      ({ body, status }: any) => {
        if (!store(plants, body)) return status(400, { error: 40003, message: 'the id is taken' });
        return { name: body.name, tag: body.tag };
      },
      {
        body: t.Object({ id: t.Integer(), name: t.String(), tag: t.Optional(t.String()) }),
        // biome-ignore lint/suspicious/noExplicitAny: as above
        beforeHandle({ headers, status }: any) {
          if (headers.authorization !== `Bearer ${token}`)
            return status(401, { error: 40101, message: 'invalid token' });
        },
      },
    )
    .listen({ port: 0, hostname: '127.0.0.1' });
  return { port: app.server.port };
}
