/** OpenTelemetry: its instrumentations in front of the contract table, spans of a driver in a batch, and the recipe. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { acceptTokens, createPlantStore, groupCommit, type PlantHandler } from 'plant-store';
import { toExpress } from 'plant-store/express';
import { toNode } from 'plant-store/node';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { create, exampleUrl, rosa, runExamplesHere } from '../examples/recipe.js';
import { type Host, theApp } from '../hosts/hosts.js';
import { contractOn } from '../hosts/suite.js';
import { type Any, importExample, load } from '../support/installed.js';
import { listen } from '../support/sockets.js';

const { context, SpanStatusCode, trace } = await load('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = await load('@opentelemetry/context-async-hooks');
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await load(
  '@opentelemetry/sdk-trace-base',
);
const { registerInstrumentations } = await load('@opentelemetry/instrumentation');
const { ExpressInstrumentation } = await load('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = await load('@opentelemetry/instrumentation-http');

describe('Express 5 with the instrumentations of HTTP and Express', () => {
  const exporter = new InMemorySpanExporter();
  const stopTracing = registerInstrumentations({
    instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation()],
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  });
  afterAll(stopTracing);

  // Required, not imported, and only now: the instrumentation patches what is required after it.
  const require = createRequire(import.meta.url);
  const http = require('node:http') as typeof import('node:http');
  const express = require('express') as typeof import('express');
  const host: Host = {
    name: 'Express 5',
    others: 'the app',
    start: (handle) => {
      const app = express().disable('etag').use(toExpress(handle));
      app.use((_request, response) => void response.status(theApp.status).send(theApp.text));
      return listen(http.createServer(app));
    },
  };
  contractOn(host);

  it('gives each request its span, because they were in front', () => {
    expect(exporter.getFinishedSpans().map(({ name }: Any) => name)).toContain('POST');
  });
});

it("a driver's OpenTelemetry span has a parent in its batch, and ends before that", async () => {
  const exporter = new InMemorySpanExporter();
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('test');
  onTestFinished(() => {
    context.disable();
    manager.disable();
  });
  const spans = new Map<string, Any>();
  const parents: boolean[] = [];
  const storage = groupCommit<true>((plants) =>
    tracer.startActiveSpan('INSERT', async (span: Any) => {
      const parent = span.parentSpanContext?.spanId;
      parents.push(plants.some(({ id }) => spans.get(String(id))?.spanContext().spanId === parent));
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
      parents.push(trace.getActiveSpan() === span);
      span.end();
      return plants.map(() => 'created' as const);
    }),
  );
  const handle = createPlantStore(storage, acceptTokens('secret'), { onError() {} });
  const traced: PlantHandler = (request) =>
    tracer.startActiveSpan('POST /plants', async (span: Any) => {
      spans.set((request.headers as { id: string }).id, span);
      const response = await handle(request);
      span.end();
      return response;
    });
  const running = await listen(createServer(toNode(traced)));
  onTestFinished(() => running.close());
  let next = 0;
  const client = async () => {
    while (next < 400) {
      const id = String(++next);
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json', id };
      const body = `{"id":${id},"name":"Rosa canina"}`;
      await (await fetch(`${running.url}/plants`, { method: 'POST', headers, body })).text();
    }
  };
  await Promise.all(Array.from({ length: 40 }, client));
  expect(parents.length).toBeGreaterThan(20);
  expect(parents.every(Boolean)).toBe(true);
  const finished = exporter.getFinishedSpans();
  const inserts = finished.filter(({ name }: Any) => name === 'INSERT');
  for (const insert of inserts) {
    const parent = finished.findIndex(
      (span: Any) => span.spanContext().spanId === insert.parentSpanContext?.spanId,
    );
    expect(parent).toBeGreaterThan(finished.indexOf(insert));
  }
});

describe('the recipe', () => {
  runExamplesHere();
  afterEach(() => vi.clearAllMocks());
  const spans = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    const spanProcessors = [new SimpleSpanProcessor(spans)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  });
  afterAll(() => {
    trace.disable();
    context.disable();
  });

  it('creates a span for a request, with one for its storage inside', async () => {
    const url = await exampleUrl(importExample('tracing'));
    await create(url, rosa(1));
    await create(url, rosa(1), 'wrong');
    const [storing, request, refused, ...more] = spans.getFinishedSpans();
    expect([storing?.name, request?.name, refused?.name, ...more]).toEqual([
      'storage.create',
      'POST /plants',
      'POST /plants',
    ]);
    expect(storing?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(request?.attributes).toEqual({ 'http.response.status_code': 200 });
    expect(refused?.attributes).toEqual({ 'http.response.status_code': 401 });
  });

  it('keeps the cause of a 5xx with the span of its request', async () => {
    const example = await importExample('tracing');
    spans.reset();
    vi.spyOn(example.plants, 'create').mockRejectedValueOnce(new Error('disk full'));
    await create(await exampleUrl(example), rosa(2));
    const [, request] = spans.getFinishedSpans();
    expect(request?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(request?.events).toMatchObject([{ attributes: { 'exception.message': 'disk full' } }]);
  });
});
