/** The chart of README.md: requests a second of each row, beside its baseline. */
import type { Results } from './main.js';

/** A scale of its own for each: a database and a Map in memory are not to be compared. */
const panels: readonly { readonly what: string; readonly title: string; readonly against: string }[] = [
  { what: 'PostgreSQL', title: 'PostgreSQL', against: 'INSERT by hand' },
  { what: 'SQLite', title: 'SQLite', against: 'INSERT by hand' },
  { what: 'toExpress', title: 'Express, in memory', against: 'express.json, valibot' },
  { what: 'toFastify', title: 'Fastify, in memory', against: 'JSON schemas' },
  { what: 'toFetch in Hono', title: 'Hono, in memory', against: 'bearerAuth, valibot' },
];
const connections = [1, 8, 64];
const panelWidth = 196;
const barWidth = 25;
const height = 150;
const top = 108;

/**
 * Draws rows that were measured as an SVG of less than 8 kB, for a light and a dark page.
 *
 * @throws {Error} that names a row that was not measured
 */
export function chartOf({ commit, date, node, machine, rows }: Results): string {
  const rateOf = (what: string, count: number) => {
    const row = rows.find((row) => row.what === what && row.connections === count);
    if (!row) throw new Error(`the chart requires the row ${what} at ${count} connections`);
    return row.rate;
  };
  const parts = panels.map(({ what, title, against }, i) => {
    const rates = connections.map((count) => rateOf(what, count));
    const most = Math.max(...rates.flatMap(({ baseline, ours }) => [baseline, ours]));
    const bars = rates.map(({ baseline, ours }, group) => {
      const x = 8 + group * 62;
      return [
        bar(x, baseline / most, 'b', brief(baseline)),
        bar(x + barWidth + 2, ours / most, 'o', brief(ours)),
        `<text x="${x + barWidth}" y="${top + height + 15}" class="m">${connections[group]}</text>`,
      ].join('');
    });
    return `<g transform="translate(${12 + i * panelWidth})"><text x="8" y="68" class="t">${title}</text><text x="8" y="84" class="n">${against}</text>${bars.join('')}<path d="M4 ${top + height}h180"/></g>`;
  });
  const width = 12 + panels.length * panelWidth;
  const gain = (what: string) => rateOf(what, 64).ratio.median.toFixed(1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 306" width="${width}" height="306" role="img" aria-labelledby="t d">
<title id="t">Requests a second, at 1, 8 and 64 connections</title>
<desc id="d">At 64 connections, plant-store serves ${gain('PostgreSQL')} times the requests of an INSERT by hand on PostgreSQL, ${gain('SQLite')} times on SQLite.</desc>
<style>
text{font:12px system-ui,sans-serif;fill:#1c2b22;text-anchor:middle}.t{font-size:14px;font-weight:600}.v{font-size:11px}.t,.n,.f{text-anchor:start}.n,.f,.m{fill:#5b6b61}.p{fill:#fff}.o{fill:#1f7a3d}.b{fill:#b9cdbf}path{stroke:#7a8f81}
@media (prefers-color-scheme:dark){text{fill:#e3ebe5}.n,.f,.m{fill:#9db0a3}.p{fill:#111a14}.o{fill:#5cc483}.b{fill:#3b5243}path{stroke:#7f9687}}
</style>
<rect class="p" width="${width}" height="306"/>
<text x="20" y="30" class="t">Requests a second, at 1, 8 and 64 connections</text>
<rect class="o" x="${width - 262}" y="20" width="12" height="12"/><text x="${width - 244}" y="30" class="f">plant-store</text><rect class="b" x="${width - 160}" y="20" width="12" height="12"/><text x="${width - 142}" y="30" class="f">named under the title</text>
${parts.join('\n')}
<text x="20" y="296" class="f">Measured ${date}, commit ${commit}, Node ${node}, ${escaped(machine)}. The databases sync each commit.</text>
</svg>
`;
}

function bar(x: number, share: number, side: 'b' | 'o', label: string): string {
  const high = Math.max(1, Math.round(share * height));
  const y = top + height - high;
  return `<rect class="${side}" x="${x}" y="${y}" width="${barWidth}" height="${high}"/><text x="${x + barWidth / 2}" y="${y - 4}" class="v">${label}</text>`;
}

const brief = (rate: number) =>
  rate < 1_000 ? String(Math.round(rate)) : `${(rate / 1_000).toFixed(rate < 9_950 ? 1 : 0)}k`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
