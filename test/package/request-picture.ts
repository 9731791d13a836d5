// Draws src/request.svg: the lifecycle of a request, from the host to the storage and back.
import { type Problem, problems } from '../../src/problems.js';
import { arrow, rect, svg, text } from '../support/svg.js';

interface Step {
  readonly name: string;
  readonly detail: string;
  readonly refusals: readonly Problem[];
}

/** The steps of `handle`, in their order, with every error that can end each. */
export const steps: readonly Step[] = [
  { name: 'target', detail: 'POST <mount>/plants?', refusals: ['not_found', 'method_not_allowed'] },
  { name: 'token', detail: 'one well-formed bearer token', refusals: ['token_missing', 'token_invalid'] },
  {
    name: 'verifyToken',
    detail: 'token to caller',
    refusals: ['token_invalid', 'scope_insufficient', 'verification_failed'],
  },
  { name: 'headers', detail: 'JSON, not too long', refusals: ['media_type_unsupported', 'body_too_large'] },
  {
    name: 'body',
    detail: 'read under the limit',
    refusals: ['body_too_large', 'body_incomplete', 'body_unreadable'],
  },
  { name: 'plant', detail: 'exact id, valid members', refusals: ['body_not_json', 'plant_invalid'] },
  {
    name: 'storage.create',
    detail: 'your storage, or a built-in one',
    refusals: ['id_taken', 'plant_refused', 'storage_failed', 'storage_rejected', 'busy', 'timed_out'],
  },
];

const row = 46;
const top = 64;
const height = top + steps.length * row + 76;

export function requestPicture(): string {
  const handleHeight = steps.length * row + 16;
  const middle = top + handleHeight / 2;
  const shapes = [
    text(20, 34, 'Request lifecycle', 'strong'),
    box(16, middle - 34, 112, 'host', ['Express, Koa,', 'Bun, Next, …']),
    arrow([128, middle], [160, middle]),
    box(160, middle - 34, 140, 'adapter', ['in: a plain request', 'out: the response']),
    arrow([300, middle], [332, middle]),
    rect(332, top, 300, handleHeight, 'box', 8),
    text(348, top - 10, 'handle', 'strong'),
    text(416, top - 10, 'green steps call your code', 'muted small'),
    text(662, top - 10, 'error responses', 'strong'),
    ...steps.flatMap((step, i) => drawn(step, top + 8 + i * row)),
    text(
      348,
      top + handleHeight + 30,
      'The adapter sends 200 with the plant, or the Error of the step that ended the request.',
      'muted small',
    ),
    text(348, top + handleHeight + 48, 'onError gets the cause of every 5xx, once.', 'muted small'),
  ];
  return svg(
    {
      width: 1040,
      height,
      title: 'Request lifecycle',
      description: `Host, adapter, then handle in these steps: ${steps.map(({ name }) => name).join(', ')}. Any step can end the request with an error; the last one stores the plant.`,
    },
    shapes,
  );
}

function box(x: number, y: number, width: number, name: string, lines: readonly string[]): string {
  const rest = lines.map((line, i) => text(x + width / 2, y + 40 + i * 16, line, 'muted small', 'middle'));
  return [
    rect(x, y, width, 68, 'box', 8),
    text(x + width / 2, y + 21, name, 'strong', 'middle'),
    ...rest,
  ].join('\n');
}

function drawn({ name, detail, refusals }: Step, y: number): string[] {
  const isYours = name === 'verifyToken' || name === 'storage.create';
  const numbers = refusals.map((problem) => String(problems[problem][0]));
  return [
    rect(344, y + 4, 276, row - 10, isYours ? 'faint' : 'page', 6),
    text(356, y + 20, name, 'code strong'),
    text(356, y + 35, detail, 'muted small'),
    arrow([620, y + row / 2], [654, y + row / 2], 'warn-line'),
    text(662, y + row / 2 + 5, numbers.join(' · '), 'code'),
  ];
}
