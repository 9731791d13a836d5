import type { Received } from './audit-trial.js';

/** The page that explains a difference: by what came back, otherwise by the case. */
export function pageOf(caseId: string, received: Received | undefined): string {
  const { status = 0, error } = received ?? {};
  if (error === 50003) return parser;
  if (error === 40401 || error === 40501 || status === 404 || status === 405) return mounting;
  // Not an Error of plant-store: somebody in front responded.
  if (status >= 300 && status < 400) return redirects;
  if (!error && status === 403) return redirects;
  if (!error && status === 413) return `${proxy}, and Behind a body parser`;
  if (!error && status >= 400) return status < 500 ? parser : proxy;
  const [, page] = pages.find(([cases]) => cases.test(caseId)) ?? [];
  return page ?? 'src/README.md, HTTP reference';
}

const parser = 'adapters/hosts/README.md, Behind a body parser';
const proxy = 'adapters/hosts/README.md, Behind a proxy';
const redirects = 'adapters/hosts/README.md, Redirects and origin checks';
const mounting = 'adapters/hosts/README.md, Where to mount';

const pages: readonly [cases: RegExp, page: string][] = [
  [/^(path|method|query|order-path|order-method)/, mounting],
  [/^(token|scope|order-token|order-verified)/, 'README.md, Authentication'],
  [/^(size|create-at-limit|order-length)/, 'README.md, Options (bodyLimit)'],
  [/^upload/, proxy],
  [/^(id-taken)/, 'src/README.md, Retries'],
  [/^(create|id|json|plant|neighbours|twice|utf)/, `${parser}; src/README.md, Valid plants`],
];
