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
      return {
        ...app,
        port: proxy.port,
        url: url.href.replace(/\/$/, ''),
        close: async () => {
          await proxy.close();
          await app.close();
        },
      };
    },
  };
}

const missing = (program: string) =>
  spawnSync(program, ['-v']).error ? `${program} is not installed: apt-get install ${program}` : undefined;

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
  ].map(
    ({ how, option }): Proxy => ({
      name: `HAProxy that ${how}`,
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
            server app 127.0.0.1:${app}
          `.replace(/^ {10}/gm, ''),
          args: ['-db', '-f'],
        })),
    }),
  ),
  {
    name: 'http-proxy-middleware',
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
