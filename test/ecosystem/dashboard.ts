/** The dashboard of `examples/around/dashboard.json`: its queries, and a picture of what they show. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.js';
import type { Prometheus, Series } from './prometheus.js';

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { panels } = JSON.parse(readFileSync(join(root, 'examples/around/dashboard.json'), 'utf8')) as {
  panels: readonly Panel[];
};

const exprFor = (expr: string, instance: string) => expr.replaceAll('$instance', instance);

/** The titles of the panels that show nothing of any instance. */
export async function silentPanels(prometheus: Prometheus, sinceMs: number): Promise<string[]> {
  const silent: string[] = [];
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const series = await prometheus.query(exprFor(expr, '.*'), sinceMs, 5);
      const isSeen = series.some(({ values }) => values.some(([, value]) => Number(value) > 0));
      if (!isSeen) silent.push(`${title}: ${expr}`);
    }
  }
  return silent;
}

const width = 380;
const height = 96;
const colours = ['#3a7d44', '#b3261e', '#3b6fb6', '#b7791f', '#6b46a8'];

/** An SVG of the panels, of one instance since then. */
export async function pictureOf(prometheus: Prometheus, instance: string, sinceMs: number): Promise<string> {
  const drawn = await Promise.all(
    panels.map(async ({ title, targets }, i) => {
      const lines = await Promise.all(
        targets.map(async ({ expr, legendFormat }) => {
          const series = await prometheus.query(exprFor(expr, instance), sinceMs, 5);
          return series.map((each) => ({
            name: nameOf(legendFormat, each, instance),
            points: pointsOf(each, sinceMs),
          }));
        }),
      );
      return panelOf(
        title,
        lines.flat(),
        10 + (i % 2) * (width + 20),
        26 + Math.floor(i / 2) * (height + 44),
      );
    }),
  );
  const size = `${2 * width + 40} ${Math.ceil(panels.length / 2) * (height + 44) + 10}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" font-family="sans-serif" font-size="11">
<title>The dashboard while a database is frozen</title>
<rect width="100%" height="100%" fill="#fff"/>
${drawn.join('\n')}
</svg>
`;
}

interface Line {
  readonly name: string;
  readonly points: readonly (readonly [second: number, value: number])[];
}

const nameOf = (format: string, { metric }: Series, instance: string) =>
  format
    .replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')
    .replace(instance, '')
    .trim();

const pointsOf = ({ values }: Series, sinceMs: number) =>
  values
    .map(([at, value]) => [at - sinceMs / 1_000, Number(value)] as const)
    .filter(([, value]) => Number.isFinite(value));

function panelOf(title: string, lines: readonly Line[], x: number, y: number): string {
  const all = lines.flatMap(({ points }) => points);
  const most = Math.max(1e-9, ...all.map(([, value]) => value));
  const last = Math.max(1, ...all.map(([second]) => second));
  const drawn = lines.map(({ name, points }, i) => {
    const path = points.map(([second, value]) => {
      return `${Math.round((second / last) * width)} ${Math.round(height - (value / most) * (height - 4))}`;
    });
    const colour = colours[i % colours.length];
    const legend = name && `<text x="${i * 74}" y="${height + 12}" fill="${colour}">${name}</text>`;
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>${legend}`;
  });
  return `<g transform="translate(${x} ${y})"><text y="-6" font-weight="bold">${title}</text><text x="${width}" y="-6" text-anchor="end" fill="#666">up to ${most < 1e-6 ? 0 : Number(most.toPrecision(2))}</text>
<rect width="${width}" height="${height}" fill="none" stroke="#ccc"/>${drawn.join('')}</g>`;
}
