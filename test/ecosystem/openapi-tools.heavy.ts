// The document merged in the tools that apps serve theirs with.
import { createServer, type RequestListener } from 'node:http';
import { Validator } from '@seriousme/openapi-schema-validator';
import express from 'express';
import type { OpenAPIV3_1 } from 'openapi-types';
import { acceptTokens, createPlantStore, type NewPlant } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { memoryStorage } from 'plant-store/memory';
import { openapi } from 'plant-store/openapi';
import { expect, it, onTestFinished } from 'vitest';
import { chromiumPath, withoutChromium } from '../support/chromium.js';
import { load } from '../support/installed.js';
import { describeUnless } from '../support/obstacle.js';
import { listen } from '../support/sockets.js';

const { chromium } = await load('playwright-core');

const jwt = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } as const;
const info = { title: 'A garden', version: '2.0.0' };

/** The merge of examples/README.md. */
function merge(own: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const plants = openapi({ basePath: '/api', prefix: 'PlantStore', bearerAuth: 'jwt' });
  const path = '/api/plants';
  return {
    ...own,
    paths: { ...own.paths, [path]: { ...own.paths?.[path], ...plants.paths[path] } },
    components: { ...own.components, schemas: { ...own.components?.schemas, ...plants.components.schemas } },
  };
}

async function expectMerged(document: OpenAPIV3_1.Document, own: OpenAPIV3_1.Document): Promise<void> {
  // As it is served: without what is undefined.
  expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
  expect(document).toMatchObject(own);
  expect(document.paths?.['/api/plants']?.post).toMatchObject({
    operationId: 'createPlant',
    security: [{ jwt: [] }],
  });
  expect(document.components?.securitySchemes).toEqual({ jwt });
}

it('the document merges into what getOpenAPI31Document of @hono/zod-openapi returns', async () => {
  const { OpenAPIHono, createRoute, z } = await load('@hono/zod-openapi');
  const schema = z.object({ name: z.string() }).openapi('Error');
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent('securitySchemes', 'jwt', jwt);
  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/beds',
      security: [{ jwt: [] }],
      responses: { 200: { description: 'beds', content: { 'application/json': { schema } } } },
    }),
    () => new Response('{"name":"a"}'),
  );
  const listed = {
    method: 'get' as const,
    path: '/api/plants',
    responses: { 200: { description: 'plants' } },
  };
  app.openapi(createRoute(listed), () => new Response('[]'));
  const own = app.getOpenAPI31Document({ openapi: '3.1.0', info });
  expect(Object.keys(own.components.schemas)).toEqual(['Error']);
  await expectMerged(merge(own), own);
});

it('the document merges into what createDocument of @nestjs/swagger returns', async () => {
  await load('reflect-metadata');
  const { Controller, Get, Module } = await load('@nestjs/common');
  const { NestFactory } = await load('@nestjs/core');
  const { ApiOkResponse, ApiProperty, DocumentBuilder, SwaggerModule } = await load('@nestjs/swagger');
  // Its name is one of plant-store's.
  class Plant {}
  ApiProperty({ type: String })(Plant.prototype, 'kind');
  class Beds {
    list() {
      return { kind: 'a' };
    }
    listPlants() {
      return [];
    }
  }
  const list = Object.getOwnPropertyDescriptor(Beds.prototype, 'list')!;
  Get('beds')(Beds.prototype, 'list', list);
  ApiOkResponse({ type: Plant })(Beds.prototype, 'list', list);
  const listed = Object.getOwnPropertyDescriptor(Beds.prototype, 'listPlants')!;
  Get('plants')(Beds.prototype, 'listPlants', listed);
  Controller('api')(Beds);
  class Garden {}
  Module({ controllers: [Beds] })(Garden);

  const app = await NestFactory.create(Garden, { logger: false });
  onTestFinished(() => app.close());
  const config = new DocumentBuilder().setTitle(info.title).setVersion(info.version);
  const own = SwaggerModule.createDocument(app, config.addBearerAuth(jwt, 'jwt').build());
  expect(Object.keys(own.components.schemas)).toEqual(['Plant']);
  await expectMerged(merge(own), own);
});

describeUnless(withoutChromium, 'swagger-ui-express, in a browser', () => {
  it('shows the lock, takes a token, and "Execute" creates a plant', async () => {
    const swaggerUi = await load('swagger-ui-express');
    const paths = { '/api/plants': { get: { responses: { 200: { description: 'plants' } } } } };
    const own = { openapi: '3.1.0', info, paths, components: { securitySchemes: { jwt } } };
    const document = merge(own);
    await expectMerged(document, own);

    const plants = new Map<bigint, NewPlant>();
    const app = express();
    app.use('/docs', swaggerUi.serve, swaggerUi.setup(document));
    app.use('/api', toExpress(createPlantStore(memoryStorage(plants), acceptTokens('secret'))));
    const { url, close } = await listen(createServer(app as RequestListener));
    onTestFinished(close);

    const browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${url}/docs/`);
    const operation = page.locator('#operations-plants-createPlant');
    await operation.locator('.authorization__btn').click();
    await page.locator('.auth-container input').fill('secret');
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.try-out__btn').click();
    await operation.locator('.execute').click();
    const status = operation.locator('.live-responses-table .response-col_status').last();
    await status.waitFor();
    expect(await status.textContent()).toContain('200');
    expect([...plants.values()]).toEqual([{ id: 1n, name: 'Rosa canina', tag: 'shrub' }]);
  });
});
