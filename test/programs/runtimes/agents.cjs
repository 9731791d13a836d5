/**
 * Mounts the built package in apps that an agent watches, and prints what each responds: `node agents.cjs FOLDER AGENT`.
 * A program of its own, in CommonJS, because an agent patches the modules that are required after it.
 */
const { createRequire } = require('node:module');
const [folder, agent] = process.argv.slice(2);
const installed = createRequire(`${folder}/package.json`);

const start = {
  newrelic() {
    const settings = { APP_NAME: 'plants', LICENSE_KEY: 'x'.repeat(40), HOST: '127.0.0.1' };
    const quiet = { NO_CONFIG_FILE: 'true', LOG_ENABLED: 'false' };
    for (const [name, value] of Object.entries({ ...settings, ...quiet }))
      process.env[`NEW_RELIC_${name}`] = value;
    installed('newrelic');
  },
  '@sentry/node': () =>
    installed('@sentry/node').init({ dsn: 'http://a@127.0.0.1:1/1', tracesSampleRate: 1 }),
  'dd-trace': () => installed('dd-trace').init({ startupLogs: false, flushInterval: 1e6 }),
  opentelemetry() {
    const { registerInstrumentations } = installed('@opentelemetry/instrumentation');
    const { ExpressInstrumentation } = installed('@opentelemetry/instrumentation-express');
    const { HttpInstrumentation } = installed('@opentelemetry/instrumentation-http');
    const { KoaInstrumentation } = installed('@opentelemetry/instrumentation-koa');
    const { BasicTracerProvider } = installed('@opentelemetry/sdk-trace-base');
    const instrumentations = [
      new HttpInstrumentation(),
      new ExpressInstrumentation(),
      new KoaInstrumentation(),
    ];
    registerInstrumentations({ instrumentations, tracerProvider: new BasicTracerProvider() });
  },
  'express-async-errors': () => installed('express-async-errors'),
};
start[agent]();

const { createServer, request } = require('node:http');
const Koa = require('koa');
const mount = require('koa-mount');
const { Router } = require('@koa/router');
const { acceptTokens, createPlantStore } = require('../../../dist/index.cjs');
const { toExpress, toRoute } = require('../../../dist/express.cjs');
const { toKoa, toRoute: toKoaRoute } = require('../../../dist/koa.cjs');
const { memoryStorage } = require('../../../dist/memory.cjs');

const handle = () => createPlantStore(memoryStorage(), acceptTokens('secret'));
const express = () => toExpress(handle());
const route = () => toRoute(handle());
const koa = () => toKoa(handle());
const wrapped = (handler) => (first, second, third) => handler(first, second, third);
const next = (_request, _response, next) => next();

const apps = {
  'Koa, a route': () => new Koa().use(new Router().post('/api/plants', toKoaRoute(handle())).routes()),
  'Koa, a wrapped route': () =>
    new Koa().use(new Router().post('/api/plants', wrapped(toKoaRoute(handle()))).routes()),
  'Koa, a prefix': () =>
    new Koa().use(new Router({ prefix: '/api' }).post('/plants', toKoaRoute(handle())).routes()),
  'Koa, a mount': () => new Koa().use(mount('/api', koa())),
};
for (const [name, make] of [
  ['Express 5', require('express')],
  ['Express 4', agent === 'express-async-errors' ? installed('express') : require('express4')],
]) {
  Object.assign(apps, {
    [`${name}, a route`]: () => make().post('/api/plants', route()),
    [`${name}, a wrapped route`]: () => make().post('/api/plants', wrapped(route())),
    [`${name}, a route after another handler`]: () => make().post('/api/plants', next, route()),
    [`${name}, a list of paths`]: () => make().post(['/trees', '/api/plants'], route()),
    [`${name}, a route in a router`]: () => make().use('/api', make.Router().post('/plants', route())),
    [`${name}, a mount`]: () => make().use('/api', express()),
  });
}

function statusOf(app, path) {
  const server = createServer(typeof app === 'function' ? app : app.callback()).listen(0, '127.0.0.1');
  return new Promise((resolve, reject) => {
    server.on('listening', () => {
      const headers = {
        authorization: 'Bearer secret',
        'content-type': 'application/json',
        connection: 'close',
      };
      const { port } = server.address();
      const sent = request({ host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
        response.resume().on('end', () => server.close(() => resolve(response.statusCode)));
      });
      sent.on('error', reject).end('{"id":9007199254740993,"name":"Rosa canina"}');
    });
  });
}

(async () => {
  const statuses = {};
  for (const [name, app] of Object.entries(apps)) {
    statuses[name] = [await statusOf(app(), '/api/plants'), await statusOf(app(), '/api/trees')];
  }
  process.stdout.write(JSON.stringify(statuses), () => process.exit());
})();
