/** What each step from the operation by hand to `toNode` costs a request, in microseconds of CPU and in bytes of V8's heap. */
import { type Effort, figure } from './compare.js';
import { type Sample, Side } from './side.js';
import { steps } from './steps.js';

const load = { connections: 64, staysAwake: true };

/** The table. All steps take turns, each in a process of its own. */
export async function waterfall(node: string, child: string, effort: Effort): Promise<string> {
  const names = Object.keys(steps);
  const samples = names.map((): Sample[] => []);
  for (let i = 0; i < effort.processes; i++) {
    const sides: Side[] = [];
    try {
      for (const name of names) sides.push(await Side.open({ node, child, name: `step: ${name}` }, load));
      for (const side of sides) await side.sample(effort.warmUpMs);
      for (let turn = 0; turn < effort.samples; turn++) {
        const order = [...sides.entries()];
        for (const [which, side] of turn % 2 ? order.reverse() : order)
          samples[which]!.push(await side.sample(effort.sampleMs));
      }
    } finally {
      for (const side of sides) await side.stop();
    }
  }
  /** The median of a step itself, or of what it takes more than the one before it, turn by turn. */
  const medianOf = (which: number, of: keyof Sample, than?: number) => {
    const more = samples[which]!.map(
      (each, turn) => each[of] - (than === undefined ? 0 : samples[than]![turn]![of]),
    );
    return figure(more).median;
  };
  const signed = (value: number, digits: number) => `${value < 0 ? '' : '+'}${value.toFixed(digits)}`;
  const last = names.length - 1;
  const lines = names.map((name, which) =>
    which === 0
      ? [name, medianOf(0, 'cost').toFixed(1), medianOf(0, 'bytes').toFixed(0)]
      : [name, signed(medianOf(which, 'cost', which - 1), 1), signed(medianOf(which, 'bytes', which - 1), 0)],
  );
  lines.push(['in all', medianOf(last, 'cost').toFixed(1), medianOf(last, 'bytes').toFixed(0)]);
  const head = '| step | µs of CPU a request | bytes of heap a request |\n|---|---|---|';
  return [head, ...lines.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}
