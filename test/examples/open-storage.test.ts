import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openStorage } from '../../examples/server/open-storage.js';

// No server listens on port 1.
const refused = /ECONNREFUSED/;
const unreadable = /^DATABASE_URL must look like scheme:\/\/user:password@host/;
const misplaced = /put the password before the host/;

it.each([
  ['mongodb://127.0.0.1/plants', 'DATABASE_URL must start with'],
  ['plants.db', 'DATABASE_URL must start with'],
  ['file:', 'DATABASE_URL file: requires a path, such as file:plants.db'],
  ['file::memory:', 'requires a path'],
  ['file:plants.db?mode=memory', 'does not accept query parameters'],
  ['memory:x', 'DATABASE_URL must be exactly memory: (nothing is written to disk)'],
])('no storage is opened by %s', (url, words) => expect(openStorage(url)).rejects.toThrow(words));

describe('the error of opening a storage contains no password', () => {
  it.each<[string, RegExp]>([
    [
      'postgres://rose:thorn@127.0.0.1:1/garden',
      /PostgreSQL at 127\.0\.0\.1:1, database garden: .*ECONNREFUSED/,
    ],
    ['postgres://rose@garden:thorn@127.0.0.1:1/plants', refused],
    ['postgres://rose:th@rn@127.0.0.1:1/plants', refused],
    ['postgres://rose:th%40rn@127.0.0.1:1/plants', refused],
    ['postgres://rose@127.0.0.1:1/plants?password=thorn', refused],
    ['postgres://rose@127.0.0.1:1/plants?password=thorn&password=thorn', refused],
    ['postgres://rose@127.0.0.1:1/plants?p%61ssword=thorn', refused],
    ['postgres://rose@127.0.0.1:1/plants?password=th&rn', refused],
    ['postgres://rose:th/rn@127.0.0.1:1/plants', unreadable],
    ['postgres://rose:5?rn@127.0.0.1:1/plants', unreadable],
    ['postgres://rose:5#rn@127.0.0.1:1/plants', unreadable],
    ['postgres:rose:thorn@127.0.0.1:1/plants', unreadable],
    ['postgres://rose:thorn', unreadable],
    ['mysql://rose:thorn@127.0.0.1:1/garden', /MySQL at 127\.0\.0\.1:1, database garden: .*ECONNREFUSED/],
    ['mysql://rose@garden:thorn@127.0.0.1:1/plants', refused],
    ['mysql://rose:th/rn@127.0.0.1:1/plants', unreadable],
    ['mysql://rose:thorn', unreadable],
    ['mysql://rose@127.0.0.1:1/plants?password=th&rn', misplaced],
    ['mysql://rose@127.0.0.1:1/plants?password1=thorn', misplaced],
    ['mysql://rose@127.0.0.1:1/plants?p%61ssword2=thorn', misplaced],
    ['rose:thorn@127.0.0.1:1/plants', /^DATABASE_URL must start with/],
  ])('of %s', async (url, words) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const message = await openStorage(url).then(String, (error) => error.message);
    expect(message).toMatch(words);
    expect(message).not.toMatch(/th.{0,3}rn|\brn\b/);
    expect(printed).not.toHaveBeenCalled();
  });
});
