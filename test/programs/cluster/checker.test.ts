import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Attempt, type History, type Holdings, type Kind, violationsIn } from './checker.js';
import type { Control } from './controls.js';

const id = '9007199254740993';
const rosa: Attempt = { id, name: 'a/1', outcome: 'created', at: 1_000, took: 20 };
const rival: Attempt = { id, name: 'b/1', outcome: 'taken', at: 1_010, took: 30 };
const other: Attempt = { id: '-7', name: 'b/2', outcome: 'unknown', at: 9_000, took: 8_000 };
const retried: Attempt = { ...other, name: 'c/2', isRetried: true };
const kept: Holdings = new Map([[rosa.id, rosa.name]]);

/** Three machines that hold the same. */
const three = (...plants: [string, string][]): Holdings[] => Array(3).fill(new Map(plants));

const kindsIn = (history: History): Kind[] => [...new Set(violationsIn(history).map(({ kind }) => kind))];

describe('the checker of the clusters', () => {
  it.each<[Kind, string, Attempt[], Holdings[]]>([
    ['lost', 'an acknowledged plant that one machine lacks', [rosa], [kept, new Map()]],
    [
      'overwritten',
      'an acknowledged plant under whose id another one is',
      [rosa, { ...rival, outcome: 'unknown' }],
      three([id, rival.name]),
    ],
    ['two winners', 'an id with two winners', [rosa, { ...rival, outcome: 'created' }], [kept]],
    ['taken by nobody', 'an id that is taken where nothing is', [rival], three()],
    [
      'taken by itself',
      'a client that got id_taken for its own plant',
      [{ ...rosa, outcome: 'taken' }],
      [kept],
    ],
    [
      'refused, yet stored',
      'a plant whose client was told that it is not stored',
      [{ ...rosa, outcome: 'refused' }],
      [kept],
    ],
    [
      'refused, yet stored',
      'a plant that is stored after two attempts that were both told that it is not',
      [
        { ...rosa, outcome: 'refused', isRetried: true },
        { ...rosa, outcome: 'refused', isRetried: true, at: 2_000 },
      ],
      [kept],
    ],
    ['invented', 'a plant that nobody sent', [rosa], three([id, rosa.name], ['3', 'z/1'])],
    ['invented', 'a neighbour beyond 2^53', [rosa], three(['9007199254740992', rosa.name])],
    [
      'machines differ',
      'machines of which one alone has a plant with an unknown outcome',
      [rosa, other],
      [kept, new Map([...kept, [other.id, other.name]]), kept],
    ],
    ['retried in vain', 'a client that gave up', [retried], three()],
    [
      'retried in vain',
      'a client that gave up, although its plant is stored',
      [retried],
      three([other.id, retried.name]),
    ],
    [
      'retried in vain',
      'a client that got two 200s for one plant',
      [
        { ...rosa, isRetried: true },
        { ...rosa, isRetried: true, at: 2_000 },
      ],
      [kept],
    ],
    [
      'retried in vain',
      'a client that got id_taken, and no plant is there',
      [retried, { ...retried, outcome: 'taken' }],
      three(),
    ],
  ])('finds "%s": %s', (kind, _, attempts, machines) => {
    expect(kindsIn({ attempts, machines })).toContain(kind);
  });

  it.each<[Kind, string, Partial<History>]>([
    ['settled too late', 'an attempt', { attempts: [{ ...rosa, took: 10_001 }] }],
    [
      'settled too late',
      'an attempt of a client that retries',
      { attempts: [{ ...rosa, took: 30_001, isRetried: true }] },
    ],
    [
      'settled too late',
      'an attempt that never settled',
      { attempts: [rosa, { ...other, outcome: 'unsettled' }] },
    ],
    ['recovered too late', 'a first 200 after the fault', { recovery: { from: 400, withinMs: 500 } }],
    ['recovered too late', 'no 200 after the fault', { recovery: { from: 1_001, withinMs: 60_000 } }],
  ])('finds "%s": %s', (kind, _, history) => {
    const limits = { once: 10_000, retried: 30_000 };
    expect(kindsIn({ attempts: [rosa], machines: [kept], limits, ...history })).toEqual([kind]);
  });

  it.each<[string, Attempt[], Holdings[]]>([
    ['a race', [rosa, rival], [kept, kept]],
    [
      'an unknown outcome, stored or not',
      [rosa, other, { ...other, id: '8', name: 'b/3' }],
      three([id, 'a/1'], ['-7', 'b/2']),
    ],
    [
      'a client that retries an unknown outcome until its 200',
      [
        { ...rosa, outcome: 'unknown', isRetried: true, at: 900 },
        // Whoever cannot look whether the stored plant is the same one says that this attempt has stored nothing.
        { ...rosa, outcome: 'refused', isRetried: true, at: 950 },
        { ...rosa, isRetried: true },
      ],
      [kept],
    ],
    [
      'a client that retries until it learns that a rival has the id',
      [rosa, { ...rival, outcome: 'refused', isRetried: true, at: 900 }, { ...rival, isRetried: true }],
      [kept],
    ],
  ])('finds nothing in %s', (_, attempts, machines) => {
    const limits = { once: 10_000, retried: 30_000 };
    const recovery = { from: 500, withinMs: 500 };
    expect(violationsIn({ attempts, machines, limits, recovery })).toEqual([]);
  });
});

describe('the checker finds what was lost when', () => {
  // Recorded by controls.recording.ts, some ids of each run.
  const controls: Control[] = JSON.parse(readFileSync(new URL('controls.json', import.meta.url), 'utf8'));
  const kindsOf = (name: string): Kind[] => {
    const { attempts, machines } = controls.find(({ control }) => control === name)!;
    return kindsIn({ attempts, machines: machines.map((held) => new Map(held)) });
  };

  it.each<[string, Kind[]]>([
    ['an asynchronous standby', ['lost', 'overwritten', 'retried in vain', 'taken by nobody', 'two winners']],
    [
      'synchronous_mode_strict: false',
      ['lost', 'overwritten', 'retried in vain', 'taken by nobody', 'two winners'],
    ],
    [
      'pc.ignore_sb',
      ['lost', 'machines differ', 'overwritten', 'retried in vain', 'taken by nobody', 'two winners'],
    ],
    ['a client that retries without acceptReplays', ['retried in vain', 'taken by itself']],
  ])('a cluster ran with: %s', (control, kinds) => {
    expect(kindsOf(control).sort()).toEqual(kinds);
  });
});
