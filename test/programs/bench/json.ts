/** `JSON.parse` alone, and the same with the pass that keeps the id exact. One operation is one byte. */
import { parseMembers } from '../../../src/plant/json.js';
import type { Contenders, Work } from './contender.js';

/** Bodies that would cost a careless pass much more than they cost `JSON.parse`. */
export const bodies: Record<string, (size: number) => string> = {
  'digits-in-id': (size) => `{"id":1${'7'.repeat(size)},"name":"a"}`,
  'zeros-in-id': (size) => `{"id":1${'0'.repeat(size)},"name":"a"}`,
  'zeros-in-fraction': (size) => `{"id":1.${'0'.repeat(size)},"name":"a"}`,
  'zeros-in-front': (size) => `{"id":0.${'0'.repeat(size)}1e${size + 1},"name":"a"}`,
  'small-numbers': (size) => `{"a":[${'1,'.repeat(size / 2)}1],"id":1,"name":"a"}`,
  'long-name': (size) => `{"id":1,"name":"${'a'.repeat(size)}"}`,
  'long-wide-name': (size) => `{"id":1,"name":"${'ж'.repeat(size / 2)}"}`,
  quotes: (size) => `{"a":[${'"",'.repeat(size / 3)}""],"id":1,"name":"a"}`,
  'short-strings': (size) => `{"a":[${'"abcdefgh",'.repeat(size / 11)}""],"id":1,"name":"a"}`,
  backslashes: (size) => `{"id":1,"name":"${'\\\\'.repeat(size / 2)}"}`,
  'escaped-quotes': (size) => `{"id":1,"name":"${'\\"'.repeat(size / 2)}"}`,
  'escapes-far-apart': (size) => `{"id":1,"name":"${'aaaaaaaaaaaaaaaaaaa\\"'.repeat(size / 21)}"}`,
  'nested-arrays': (size) => `{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)},"id":1,"name":"a"}`,
  'nested-objects': (size) => `{"a":${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)},"id":1,"name":"a"}`,
  'empty-objects': (size) => `{"a":[${'{},'.repeat(size / 3)}{}],"id":1,"name":"a"}`,
  'ids-again': (size) => `{${'"id":1,'.repeat(size / 7)}"name":"a"}`,
  'escaped-ids-again': (size) => `{${'"\\u0069d":1,'.repeat(size / 12)}"name":"a"}`,
  'many-members': (size) =>
    `{${Array.from({ length: size / 12 }, (_, i) => `"${String(i).padStart(8, 'k')}":1,`).join('')}"id":1,"name":"a"}`,
  'white-space': (size) => `{${' '.repeat(size)}"id":1,"name":"a"}`,
  'white-space-in-array': (size) => `{"a":[${'1,\n    '.repeat(size / 7)}1],"id":1,"name":"a"}`,
};

export const plantBodies: Record<string, string> = {
  plain: '{"id":1000000001,"name":"Rosa canina","tag":"hedge"}',
  'exact-id': '{"id":9223372036854775807,"name":"Rosa canina","tag":"hedge"}',
  'other-order': '{"name":"Rosa canina","tag":"hedge","id":1000000001}',
  escaped: '{"id":1000000001,"name":"Rosa \\"canina\\"","tag":"hedge"}',
};

export const json: Contenders = {
  parse: (name, size) => parsing(bodyOf(name, size), JSON.parse),
  exact: (name, size) => parsing(bodyOf(name, size), parseMembers),
  /** The pass without JSON.parse: for `parseMembers`, the text is parsed already. */
  pass: (name, size) => {
    const text = bodyOf(name, size);
    const { parse } = JSON;
    const value = parse(text);
    JSON.parse = (other) => (other === text ? value : parse(other));
    return parsing(text, parseMembers);
  },
};

function bodyOf(name = '', size = '0'): string {
  const text = plantBodies[name] ?? bodies[name]!(Number(size));
  // Flat, as a decoded body is: V8 would keep the string of `repeat` as a tree and flatten it in the measured time.
  return Buffer.from(text).toString();
}

function parsing(text: string, parse: (text: string) => unknown): Work {
  const times = Math.ceil(2 ** 18 / text.length);
  return {
    operations: times * text.length,
    run() {
      for (let i = 0; i < times; i++) parse(text);
    },
  };
}
