import { describe, expect, it } from 'vitest';
import { faultsIn, type Holdings, type Told } from './checker.js';

const rosa: Told = { id: '9007199254740993', name: 'a/1', outcome: 'created' };
const late: Told = { id: '9007199254740993', name: 'b/1', outcome: 'taken' };
const lost: Told = { id: '-7', name: 'b/2', outcome: 'unknown' };
const kept: Holdings = new Map([[rosa.id, rosa.name]]);
const withUnknown: Holdings = new Map([...kept, [lost.id, lost.name]]);

describe('the checker of the clusters', () => {
  it.each<[string, Told[], Holdings[], string]>([
    ['an acknowledged plant that is missing', [rosa], [kept, new Map()], 'lost: server 1'],
    [
      'one under whose id another is now',
      [rosa, { ...late, outcome: 'unknown' }],
      [new Map([[rosa.id, late.name]])],
      'overwritten',
    ],
    ['an id with two winners', [rosa, { ...late, outcome: 'created' }], [kept], 'two winners'],
    ['taken where nothing is', [late], [new Map()], 'taken by nobody'],
    [
      'a creator that got taken for its own plant',
      [{ ...rosa, outcome: 'taken' }],
      [kept],
      'taken by itself',
    ],
    [
      'a plant that was rejected as not stored',
      [{ ...rosa, outcome: 'refused' }],
      [kept],
      'refused, yet stored',
    ],
    ['a plant that nobody sent', [rosa], [withUnknown], 'invented'],
    ['servers that differ', [rosa, lost], [kept, withUnknown], 'different'],
    ['a neighbour beyond 2^53 in its place', [rosa], [new Map([['9007199254740992', rosa.name]])], 'lost'],
  ])('finds %s', (_, told, servers, fault) => {
    expect(faultsIn(told, servers)).toContainEqual(expect.stringContaining(fault));
  });
});
