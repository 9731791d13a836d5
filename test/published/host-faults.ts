import type { Answer, ContractCase } from './host-cases.js';

type Expected = ContractCase['expected'];

/** What a response lacks of plant-store's own: the numbers, the headers and each byte of a plant. */
export function strictFaults(expected: Expected, { status, headers, text }: Answer): string[] {
  const { faults, check } = checks();
  check('status', status, expected.status);
  for (const [name, value] of Object.entries({ ...usualHeaders(expected), ...expected.headers })) {
    check(name, headers.get(name), value);
  }
  if (expected.body === '') check('the body', text, '');
  else check('content-type', headers.get('content-type'), 'application/json');
  if (expected.body) check('the body', text, JSON.stringify(expected.body));
  if (expected.error) {
    const { error, message, ...rest } = objectIn(text);
    check('error', error, expected.error);
    check('the type of message', typeof message, 'string');
    check('further members of the Error', Object.keys(rest).join(), '');
  }
  return faults;
}

/**
 * What a response lacks of the contract, from whatever implementation. The contract leaves open how JSON is written, the
 * parameters of its media type, the numbers and words of an Error, its further members, and the realm of a challenge.
 */
export function contractFaults(expected: Expected, { status, headers, text }: Answer): string[] {
  const { faults, check } = checks();
  if (!otherStatuses(expected).includes(status)) check('status', status, expected.status);
  if (expected.status === 401) check('the scheme of www-authenticate', schemeOf(headers), 'Bearer');
  if (expected.status === 405)
    check('whether allow has POST', /\bPOST\b/.test(headers.get('allow') ?? ''), true);
  if (expected.body === '') {
    check('the body', text, '');
    return faults;
  }
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  check('content-type', type.trim().toLowerCase(), 'application/json');
  const received = objectIn(text);
  if (expected.body) check('the plant', sorted(received), sorted(expected.body));
  if (expected.error) {
    const { error, message } = received;
    if (!Number.isInteger(error) || Number(error) !== (Number(error) | 0)) check('error', error, 'an int32');
    check('the type of message', typeof message, 'string');
  }
  return faults;
}

/** The statuses of HTTP for what the contract does not name: a media type or a coding, and a size. */
function otherStatuses({ error }: Expected): number[] {
  if (error === 40005) return [415];
  return error === 40006 ? [413] : [];
}

function schemeOf(headers: Answer['headers']): string {
  const [scheme = ''] = (headers.get('www-authenticate') ?? '').split(' ');
  return scheme.toLowerCase() === 'bearer' ? 'Bearer' : scheme;
}

/** An object as text, whatever the order of its members. */
function sorted(value: unknown): string {
  return JSON.stringify(Object.fromEntries(Object.entries(Object(value)).sort()));
}

function checks() {
  const faults: string[] = [];
  const check = (what: string, received: unknown, must: unknown) => {
    if (received === must) return;
    faults.push(`${what} is ${JSON.stringify(received)}, and must be ${JSON.stringify(must)}`);
  };
  return { faults, check };
}

/** The headers that every response of a status has, or lacks. */
function usualHeaders({ status, error }: Expected): Record<string, string | null> {
  const challenge =
    error === 40102 ? 'Bearer realm="plants", error="invalid_token"' : 'Bearer realm="plants"';
  return {
    'www-authenticate': status === 401 ? challenge : null,
    'retry-after': status === 503 ? '1' : null,
    allow: status === 405 ? 'POST' : null,
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
