// The declarations of the package, under the compilers and the settings that apps have, without `skipLibCheck`.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { type Compiled, compile, compilers, type Options, type Version } from '../support/compilers.js';
import { packedPackage, specifierOf, specifiers, subpaths } from '../support/package.js';
import { root } from '../support/root.js';

let temp: string;

/** A new app, with the package and its dependency. Copies: a link would lead the module search into the repository. */
beforeAll(async () => {
  temp = mkdtempSync(join(tmpdir(), 'plant-store-types-'));
  const tarball = await packedPackage();
  const installed = join(temp, 'node_modules/plant-store');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', tarball, '-C', installed, '--strip-components=1']);
  cpSync(join(root, 'node_modules/valibot'), join(temp, 'node_modules/valibot'), { recursive: true });
}, 600_000);

afterAll(() => rmSync(temp, { recursive: true, force: true }));

/** Compiles the files of an app, each by its name. */
function compiled(version: Version, files: Record<string, string>, options: Options): Compiled {
  const folder = mkdtempSync(join(temp, 'app-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return compile(version, folder, Object.keys(files), options);
}

const bare = `
  import { acceptTokens, createPlantStore, type Signal, StorageBusy } from 'plant-store';
  export const signal: Signal = { aborted: false };
  export const busy = new StorageBusy('full', { cause: 1 });
  // @ts-expect-error a number is no storage
  createPlantStore(1, acceptTokens('secret'));`;
const abort = `
  import type { PlantRequest, Signal, StorageContext } from 'plant-store';
  export const own: Signal = new AbortController().signal;
  export const theirs = (context: StorageContext<1>): AbortSignal => context.signal;
  export const abort = (request: PlantRequest): boolean | undefined => request.signal?.aborted;
  // @ts-expect-error if the platform has AbortSignal, nothing less is accepted
  export const less: Signal = { aborted: false };`;
const fetches = `
  import { acceptTokens, createPlantStore } from 'plant-store';
  import { toFetch } from 'plant-store/fetch';
  import { memoryStorage } from 'plant-store/memory';
  const answer = toFetch(createPlantStore(memoryStorage(), acceptTokens('x')));
  export const fetcher: (request: Request) => Promise<Response> = answer;
  export const stopping = createPlantStore(memoryStorage(), async (_token: string, { signal }) => (await fetch('x', { signal })).ok);`;
const node = `
  import { createServer } from 'node:http';
  import { createServer as createHttp2 } from 'node:http2';
  import { acceptTokens, createPlantStore } from 'plant-store';
  import { memoryStorage } from 'plant-store/memory';
  import { toNode } from 'plant-store/node';
  const listener = toNode(createPlantStore(memoryStorage(), acceptTokens('x')));
  createHttp2(listener);
  createServer(listener).on('checkContinue', listener);`;
const document_ = `
  import { openapi } from 'plant-store/openapi';
  const { paths, components } = openapi({ basePath: '/api', prefix: 'Garden', bearerAuth: 'jwt' });
  export const own = { [components.schemas.GardenPlant.type]: paths['/api/plants'].post.operationId };
  // @ts-expect-error a misspelt option
  openapi({ basepath: '/api' });`;

type Platform = Pick<Options, 'target' | 'lib' | 'node'> & { readonly uses: Record<string, string> };

/** The types of Node 18.0 have neither Fetch nor the class AbortSignal. */
const withFetch = { abort, fetches, node, document_ };
const platforms: Record<string, Platform> = {
  'ES2020 alone': { target: 'es2020', lib: ['es2020'], uses: { bare, document_ } },
  'Node 20': { target: 'es2022', lib: ['es2022'], node: 20, uses: withFetch },
  'ESNext alone': { target: 'esnext', lib: ['esnext'], uses: { bare, document_ } },
  'a browser': { target: 'es2020', lib: ['es2020', 'dom'], uses: { abort, fetches } },
  'a worker': { target: 'es2022', lib: ['es2022', 'webworker'], uses: { abort, fetches } },
  'Node 18': { target: 'es2021', lib: ['es2021'], node: 18, uses: { node, document_ } },
  'Node 22 with the DOM': { target: 'es2022', lib: ['es2022', 'dom'], node: 22, uses: withFetch },
  'Node 24': { target: 'es2022', lib: ['es2022'], node: 24, uses: withFetch },
  'Node 26': { target: 'esnext', lib: ['esnext'], node: 26, uses: withFetch },
};

function isEnd(version: Version): boolean {
  return version === '4.7' || version === '7.0';
}

/** The oldest and the newest compile for each platform, the others for the barest one. */
function platformsOf(version: Version, moduleResolution: string): [string, Platform][] {
  const all = Object.entries(platforms).slice(
    0,
    !isEnd(version) ? 1 : moduleResolution === 'node16' ? undefined : 2,
  );
  // TypeScript 4.7 cannot read the types of Node 26.
  return all.filter(([name]) => version !== '4.7' || name !== 'Node 26');
}

/** Each way to find modules, the names of the files that it tells ES modules from CommonJS by, and the versions that know it. */
const resolutions = {
  node16: { module: 'node16', endings: ['mts', 'cts'], knownTo: () => true },
  nodenext: { module: 'nodenext', endings: ['mts', 'cts'], knownTo: isEnd },
  node: { module: 'commonjs', endings: ['ts'], knownTo: (version: Version) => version !== '7.0' },
  bundler: { module: 'esnext', endings: ['ts'], knownTo: (version: Version) => version >= '5' },
};

/**
 * The declarations of valibot, which this entry returns, are for newer compilers, and for a platform that has Blob and File.
 * On two platforms alone, because they take a compiler longer than all others together.
 */
const ofValibot = 'plant-store/schema';
const readsValibot = (version: Version) => version >= '5.4';
const entriesOn = (version: Version, platform: string) =>
  specifiers.filter(
    (name) => name !== ofValibot || (readsValibot(version) && ['Node 20', 'a browser'].includes(platform)),
  );

describe.each(compilers)('TypeScript %s', (version) => {
  it.each(Object.entries(resolutions).filter(([, { knownTo }]) => knownTo(version)))(
    'compiles each entry with moduleResolution %s',
    (moduleResolution, { module, endings }) => {
      for (const [name, platform] of platformsOf(version, moduleResolution)) {
        const { uses, ...rest } = platform;
        const all = entriesOn(version, name)
          .map((entry, i) => `export * as m${i} from '${entry}';`)
          .join('\n');
        const files = Object.entries({ ...uses, all }).flatMap(([use, text]) =>
          endings.map((ending) => [`${use}.${ending}`, text]),
        );
        const { faults } = compiled(version, Object.fromEntries(files), {
          module,
          moduleResolution,
          ...rest,
        });
        expect({ name, faults }).toEqual({ name, faults: [] });
      }
    },
    300_000,
  );
});

describe('an app that exports what each function returns, with `declaration: true`', () => {
  /** An app that uses one entry alone, and exports its functions, their results, and the members of these. */
  async function appOf(subpath: string): Promise<string> {
    const { import: paths } = Object(packageJson.exports)[subpath];
    const entry = await import(pathToFileURL(join(temp, 'node_modules/plant-store', paths.default)).href);
    const lines = Object.entries(entry).flatMap(([name, value]) => {
      const all = `export const all_${name} = { ${name}: entry.${name} };`;
      if (typeof value !== 'function') return all;
      const isClass = /^class/.test(String(value));
      const result = `${isClass ? 'InstanceType' : 'ReturnType'}<typeof entry.${name}>`;
      return [
        all,
        `export const result_${name} = (entry.${name} as unknown as () => ${result})();`,
        `export const members_${name} = { ...(result_${name} as unknown as Members<${result}>) };`,
      ];
    });
    const members = 'type Members<Result> = Result extends object ? Result : object;';
    return [`import * as entry from '${specifierOf(subpath)}';`, members, ...lines].join('\n');
  }

  it.each([
    ['4.7', 'node'],
    ['5.9', 'node16'],
    ['5.9', 'bundler'],
    ['7.0', 'nodenext'],
  ] as const)(
    'names each type by an entry: TypeScript %s, moduleResolution %s',
    async (version, moduleResolution) => {
      const { module } = resolutions[moduleResolution];
      const options = {
        module,
        moduleResolution,
        target: 'es2022',
        lib: ['es2022', 'dom'],
        declaration: true,
        // The cases above check the declarations of the package.
        skipLibCheck: true,
      };
      for (const subpath of subpaths.filter((name) => name !== './schema' || readsValibot(version))) {
        const { faults, declarations } = compiled(version, { 'app.ts': await appOf(subpath) }, options);
        const [text] = Object.values(declarations);
        const named = [...text!.matchAll(/(?:import\(|from )["']([^"']+)/g)].map(([, name]) => name!);
        const strange = named.filter((name) => !specifiers.includes(name) && name !== 'valibot');
        expect({ subpath, faults, strange }).toEqual({ subpath, faults: [], strange: [] });
      }
    },
    300_000,
  );
});
