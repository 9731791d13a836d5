/** What stands in front of an app in production, each with the real program: a new proxy is a new row. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { join } from 'node:path';
import express from 'express';
import { expect } from 'vitest';
import { openSocket } from '../../support/connection.js';
import { load } from '../../support/installed.js';
import { freePort, startProgram } from '../../support/program.js';
import { newFolder } from '../../support/run-folder.js';
import { listen, type Running } from '../../support/sockets.js';
import { waitFor } from '../../support/wait-for.js';
import type { Host } from '../hosts.js';

const { createProxyMiddleware } = await load('http-proxy-middleware');

export interface Proxy {
  readonly name: string;
  /** Whether it speaks HTTP/2 to the app. */
  readonly isHttp2?: boolean;
  /** The hosts that it is tried with. */
  readonly hosts: (host: Host) => boolean;
  /** What is missing to run it, if anything. */
  readonly obstacle?: string | undefined;
  /** Cases in which the proxy normalises the path by its own rules, and the status that comes of it. */
  readonly quirks?: Readonly<Record<string, number>>;
  /** Starts the proxy in front of the app on this port. */
  readonly start: (port: number) => Promise<{ port: number; close: () => Promise<void> }>;
}

/** The host with this proxy in front of it. */
export function behind({ name, quirks, start }: Proxy, host: Host): Host {
  return {
    ...host,
    name: `${host.name} behind ${name}`,
    quirks: { ...host.quirks, ...quirks },
    async start(handle): Promise<Running> {
      const app = await host.start(handle);
      const proxy = await start(app.port);
      const url = new URL(app.url);
      url.port = String(proxy.port);
      // To the clients every proxy speaks HTTP/1.
      const href = url.href.replace('h2c:', 'http:');
      return {
        ...app,
        port: proxy.port,
        url: href.replace(/\/$/, ''),
        close: async () => {
          await proxy.close();
          await app.close();
        },
      };
    },
  };
}

const missing = (program: string, packed = program) =>
  spawnSync(program, ['-v']).error ? `${program} is not installed: apt-get install ${packed}` : undefined;

const speaking = (isHttp2: boolean) => (isHttp2 ? ' that speaks HTTP/2 to the app' : '');

const everyHttp2 = ({ name }: Host) => /http2|HTTP\/2/.test(name);
const everyHttp1 = (host: Host) =>
  !everyHttp2(host) &&
  (host.represents !== undefined || /^(h3, by route|NestJS|SvelteKit.*|Remix.*|whatwg.*)$/.test(host.name));
const someHttp1 = ({ name }: Host) => /^(node:http|Fastify 5, at the root|Hono, by route)$/.test(name);

const keepAlive = 'proxy_http_version 1.1; proxy_set_header Connection "";';
const unbuffered = 'proxy_request_buffering off;';
const nginxes = [
  { how: 'as it comes', directives: '' },
  { how: 'without request buffering', directives: unbuffered },
  { how: 'with keep-alive', directives: keepAlive },
  { how: 'with keep-alive, without request buffering', directives: keepAlive + unbuffered },
];

export const proxies: readonly Proxy[] = [
  ...nginxes.map(
    ({ how, directives }): Proxy => ({
      name: `nginx ${how}`,
      hosts: everyHttp1,
      obstacle: missing('nginx'),
      start: (app) =>
        startProxy('nginx', (port, folder) => ({
          config: `
            daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors;
            events {}
            http {
              access_log off; client_max_body_size 0;
              ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder}/${what};`).join(' ')}
              upstream app { server 127.0.0.1:${app}; keepalive 8; }
              server { listen 127.0.0.1:${port}; location / { proxy_pass http://app; ${directives} } }
            }`,
          args: ['-p', folder, '-e', `${folder}/errors`, '-c'],
        })),
    }),
  ),
  ...[
    { how: 'closes each connection', option: 'option httpclose' },
    { how: 'shares its connections', option: 'http-reuse always' },
    {
      how: 'speaks HTTP/2 to the app',
      option: 'http-reuse always\n            option http-no-delay',
      isHttp2: true,
    },
  ].map(
    ({ how, option, isHttp2 = false }): Proxy => ({
      name: `HAProxy that ${how}`,
      isHttp2,
      hosts: isHttp2 ? everyHttp2 : everyHttp1,
      obstacle: missing('haproxy'),
      start: (app) =>
        startProxy('haproxy', (port) => ({
          config: `
          defaults
            mode http
            ${option}
            timeout connect 5s
            timeout client 30s
            timeout server 30s
          listen app
            bind 127.0.0.1:${port}
            server app 127.0.0.1:${app}${isHttp2 ? ' proto h2' : ''}
          `.replace(/^ {10}/gm, ''),
          args: ['-db', '-f'],
        })),
    }),
  ),
  ...[false, true].map(
    (isHttp2): Proxy => ({
      name: `nghttpx${speaking(isHttp2)}`,
      isHttp2,
      hosts: isHttp2 ? everyHttp2 : someHttp1,
      quirks: { 'path-double-slash': 200 },
      obstacle: missing('nghttpx', 'nghttp2-proxy'),
      start: (app) =>
        startProxy('nghttpx', (port) => ({
          config: `
            frontend=127.0.0.1,${port};no-tls
            backend=127.0.0.1,${app}${isHttp2 ? ';;proto=h2' : ''}
            workers=1
            log-level=ERROR`.replace(/^ {12}/gm, ''),
          args: ['--conf'],
        })),
    }),
  ),
  ...[false, true].map(
    (isHttp2): Proxy => ({
      name: `Apache${speaking(isHttp2)}`,
      isHttp2,
      hosts: isHttp2 ? everyHttp2 : someHttp1,
      quirks: { 'path-double-slash': 200 },
      obstacle: missing('apache2', 'apache2-bin'),
      start: (app) =>
        startProxy('apache2', (port, folder) => ({
          config: `
            ServerRoot ${folder}
            ServerName localhost
            DefaultRuntimeDir ${folder}
            PidFile ${folder}/pid
            ErrorLog ${folder}/errors
            Listen 127.0.0.1:${port}
            ${['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'proxy_http2', 'http2'].map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
            ProxyPass / ${isHttp2 ? 'h2c' : 'http'}://127.0.0.1:${app}/`,
          args: ['-X', '-f'],
        })),
    }),
  ),
  ...[false, true].map(
    (isHttp2): Proxy => ({
      name: `Caddy${speaking(isHttp2)}`,
      isHttp2,
      hosts: isHttp2 ? everyHttp2 : someHttp1,
      obstacle: missing('caddy'),
      start: (app) =>
        startProxy('caddy', (port, folder) => ({
          config: JSON.stringify({
            admin: { disabled: true },
            storage: { module: 'file_system', root: folder },
            apps: {
              http: {
                servers: {
                  app: {
                    listen: [`127.0.0.1:${port}`],
                    automatic_https: { disable: true },
                    routes: [
                      {
                        handle: [
                          {
                            handler: 'reverse_proxy',
                            upstreams: [{ dial: `127.0.0.1:${app}` }],
                            transport: { protocol: 'http', versions: isHttp2 ? ['h2c', '2'] : ['1.1'] },
                          },
                        ],
                      },
                    ],
                  },
                },
              },
            },
          }),
          args: ['run', '--config'],
        })),
    }),
  ),
  {
    name: 'http-proxy-middleware',
    hosts: everyHttp1,
    quirks: { 'path-double-slash': 200 },
    start: (app) =>
      listen(createHttp(express().use(createProxyMiddleware({ target: `http://127.0.0.1:${app}` })))),
  },
];

/** Starts a program with a configuration of its own, on a free port, and waits until it accepts connections. */
async function startProxy(
  program: string,
  configure: (port: number, folder: string) => { config: string; args: readonly string[] },
): Promise<{ port: number; close: () => Promise<void> }> {
  const folder = newFolder();
  const port = await freePort();
  const { config, args } = configure(port, folder);
  const file = join(folder, 'config');
  writeFileSync(file, config);
  const { child, exit, output } = startProgram([program, ...args, file]);
  await Promise.race([exit, waitFor(async () => (await openSocket(port)).destroy())]);
  expect(child.exitCode, output()).toBe(null);
  return {
    port,
    async close() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
