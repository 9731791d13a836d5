import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Any, ecosystemFolder } from '../support/installed.js';
import { newFolder } from '../support/run-folder.js';

/** Generates a client as `prisma generate` does, and opens it. */
export async function prismaClient(
  provider: 'postgresql' | 'mysql' | 'sqlite',
  adapter: Any,
  options: object = {},
): Promise<Any> {
  const folder = newFolder();
  const packages = join(ecosystemFolder(), 'node_modules');
  symlinkSync(packages, join(folder, 'node_modules'), 'junction');
  writeFileSync(
    join(folder, 'schema.prisma'),
    [
      'generator client {',
      'provider = "prisma-client-js"',
      'output = "./client"',
      '}',
      'datasource db {',
      `provider = "${provider}"`,
      '}',
      'model Plant {',
      'id BigInt @id',
      'name String',
      'tag String?',
      '@@map("plants")',
      '}',
    ].join('\n'),
  );
  // No engine but the one of the client, which is in its package: another one would be fetched.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  const command = [join(packages, 'prisma/build/index.js'), 'generate', '--schema', 'schema.prisma'];
  execFileSync(process.execPath, command, { cwd: folder, env, stdio: 'pipe' });
  const { PrismaClient } = (await import(pathToFileURL(join(folder, 'client/index.js')).href)).default;
  return new PrismaClient({ ...options, adapter });
}
