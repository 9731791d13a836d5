// Pictures as SVG text: light or dark by themselves, readable where no script runs.

/** The colours by role. A shape takes one by its class, so that the reader's colour scheme decides. */
const style = `
text { font: 14px system-ui, sans-serif; fill: #1c2b22 }
.small { font-size: 12px } .strong { font-weight: 600 } .code { font-family: ui-monospace, monospace; font-size: 13px }
.muted { fill: #5b6b61 } .on-accent { fill: #fff }
.page { fill: #fff } .box { fill: #f4f8f5; stroke: #b9cdbf } .accent { fill: #1f7a3d } .warn { fill: #b3403a }
.line { stroke: #7a8f81; fill: none; stroke-width: 1.5 } .accent-line { stroke: #1f7a3d; fill: none; stroke-width: 2 }
.warn-line { stroke: #b3403a; fill: none; stroke-width: 2 } .grid { stroke: #dfe8e2 } .faint { fill: #cfe6d6 }
@media (prefers-color-scheme: dark) {
text { fill: #e3ebe5 } .muted { fill: #9db0a3 } .on-accent { fill: #08180d }
.page { fill: #111a14 } .box { fill: #18251c; stroke: #3b5243 } .accent { fill: #5cc483 } .warn { fill: #f08a82 }
.line { stroke: #7f9687 } .accent-line { stroke: #5cc483 } .warn-line { stroke: #f08a82 } .grid { stroke: #253529 }
.faint { fill: #234231 }
}`;

/** One whole picture. A screen reader reads `title` and `description`. */
export function svg(
  size: { width: number; height: number; title: string; description: string },
  shapes: readonly string[],
): string {
  const { width, height, title, description } = size;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
${shapes.join('\n')}
</svg>
`;
}

export function text(x: number, y: number, content: string, className = '', anchor = 'start'): string {
  return `<text x="${round(x)}" y="${round(y)}" class="${className}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

export function rect(
  x: number,
  y: number,
  width: number,
  height: number,
  className: string,
  radius = 0,
): string {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}" class="${className}"/>`;
}

/** A line through points. */
export function path(points: readonly (readonly [x: number, y: number])[], className = 'line'): string {
  return `<polyline points="${points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ')}" class="${className}"/>`;
}

/** A straight line whose end has a head. */
export function arrow(
  from: readonly [number, number],
  to: readonly [number, number],
  className = 'line',
): string {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const barb = (turn: number) =>
    [to[0] - 7 * Math.cos(angle + turn), to[1] - 7 * Math.sin(angle + turn)] as const;
  return path([from, to], className) + path([barb(0.45), to, barb(-0.45)], className);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
