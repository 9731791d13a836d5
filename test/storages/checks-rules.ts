// Rules of an app: constraints, foreign keys, computed columns, enumerations.
import { every, type TableKind, type TableKinds } from './checks.js';

const bothOf = (sql: string): TableKind => ({ postgres: sql, sqlite: sql });
const plain = 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(99) NOT NULL, tag VARCHAR(99)';
const rule = (check: string) => every(`${plain}, CHECK (${check}))`);
const withMore = (more: string) => `${plain}, ${more})`;

const herbs: TableKind['plants'] = [{ name: 'Rosa canina', tag: 'herb' }, { name: 'Acer' }];
const coded: TableKind['plants'] = [{ name: 'RC-1', tag: 'climber' }, { name: 'AC-2' }];

const ofTags = 'CREATE TABLE tags (tag VARCHAR(99) PRIMARY KEY);\n';
const deferred = 'DEFERRABLE INITIALLY DEFERRED';
const ownersOf = (key: string) =>
  `CREATE TABLE owners (id BIGINT PRIMARY KEY);\n${withMore(`FOREIGN KEY (id) REFERENCES owners (id) ${key}`)}`;

export const rules: TableKinds = {
  'names that are not empty': rule('length(name) > 0'),
  'names of at most 100 characters': rule('length(name) <= 100'),
  'names without spaces around them': rule('name = trim(name)'),
  'names of at least three characters': { ...rule('length(name) >= 3'), filled: false },
  'names of at least 40 characters': {
    ...rule('length(name) >= 40'),
    plants: [{ name: 'Rosa '.repeat(10), tag: 'climber' }, { name: 'Acer '.repeat(10) }],
    acceptsOnlyOwn: true,
    filled: false,
  },
  'names of some form': {
    postgres: withMore("CHECK (name ~ '^[A-Z]{2}-[0-9]+$')"),
    mariadb: withMore("CHECK (name REGEXP '^[A-Z]{2}-[0-9]+$')"),
    sqlite: withMore("CHECK (name GLOB '[A-Z][A-Z]-[0-9]*')"),
    plants: coded,
    acceptsOnlyOwn: true,
    filled: false,
  },
  'names of a list': {
    ...rule("name IN ('Rosa canina', 'Acer')"),
    acceptsOnlyOwn: true,
    filled: false,
  },
  'tags of a list': {
    ...rule("tag IN ('herb', 'tree')"),
    plants: herbs,
    acceptsOnlyOwn: true,
    filled: 'plants (id, name)',
  },
  'tags of a list, and a plant of another': {
    ...rule("tag IN ('herb', 'tree')"),
    creates: 'untagged',
    filled: 'plants (id, name)',
  },
  'tags in small letters': rule('tag = lower(tag)'),
  'tags that are not null, by a rule': { ...rule('tag IS NOT NULL'), creates: 'tagged' },
  'no tags': { ...rule('tag IS NULL'), creates: 'untagged', filled: 'plants (id, name)' },
  'a rule that nothing meets': { ...rule('id < 0 AND id > 0'), creates: 'neither' },
  'ids above 0': rule('id > 0'),
  'ids of six digits at most': rule('id BETWEEN 1 AND 999999'),
  'ids from a million': {
    ...rule('id >= 1000000'),
    plants: [
      { id: 5_000_001n, name: 'Rosa canina', tag: 'climber' },
      { id: 5_000_002n, name: 'Acer' },
    ],
    acceptsOnlyOwn: true,
    filled: false,
  },
  'a rule that nothing meets, which is not valid of older rows': {
    postgres: `${plain});\nALTER TABLE plants ADD CHECK (id < 0 AND id > 0) NOT VALID`,
    creates: 'neither',
  },
  'a rule that nothing meets, which is not enforced': {
    postgres: withMore('CHECK (id < 0 AND id > 0) NOT ENFORCED'),
    since: 18,
  },
  'a foreign key that is not enforced': {
    postgres: ownersOf('NOT ENFORCED'),
    since: 18,
  },
  'rules of types': {
    sqlite: withMore("CHECK (typeof(id) = 'integer' AND typeof(name) = 'text')"),
  },
  'rules of types, also of the tag': { sqlite: withMore("CHECK (typeof(tag) = 'text')"), creates: 'tagged' },
  'an index that no name has a value for': {
    postgres: `${plain});\nCREATE INDEX ON plants ((name::int))`,
    sqlite: `${plain});\nCREATE INDEX numbers ON plants (json_extract(name, '$.number'))`,
    creates: 'neither',
  },
  'an index that some names have no value for': {
    postgres: `${plain});\nCREATE INDEX ON plants ((tag::int)) WHERE tag IS NOT NULL`,
    sqlite: `${plain});\nCREATE INDEX numbers ON plants (json_extract(tag, '$.number'))`,
    creates: 'untagged',
    filled: 'plants (id, name)',
  },
  'an enumeration of tags': {
    postgres: `CREATE TYPE kind AS ENUM ('herb', 'tree');\nCREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag kind)`,
    mariadb: "CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag ENUM('herb', 'tree'))",
    plants: herbs,
    acceptsOnlyOwn: true,
    creates: { mariadb: 'neither' },
    filled: 'plants (id, name)',
  },
  'an enumeration of tags, and a plant of another': {
    postgres: `CREATE TYPE kind AS ENUM ('herb', 'tree');\nCREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag kind)`,
    mariadb: "CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag ENUM('herb', 'tree'))",
    creates: { postgres: 'untagged', mariadb: 'neither' },
    filled: 'plants (id, name)',
  },
  'an enumeration of tags that take no null, with a default': {
    postgres: `CREATE TYPE kind AS ENUM ('herb', 'tree');\nCREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag kind NOT NULL DEFAULT 'herb')`,
    mariadb:
      "CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag ENUM('herb', 'tree') NOT NULL DEFAULT 'herb')",
    plants: herbs,
    creates: { postgres: 'tagged', mariadb: 'neither' },
    filled: 'plants (id, name)',
  },
  'a set of tags': {
    mariadb: "CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag SET('herb', 'tree'))",
    plants: herbs,
    creates: 'neither',
  },
  'texts of domains': {
    postgres: `CREATE DOMAIN title AS text NOT NULL CHECK (value <> '');\nCREATE DOMAIN kind AS varchar(20);
CREATE TABLE plants (id bigint PRIMARY KEY, name title, tag kind)`,
  },
  'a tag of a domain that takes no null': {
    postgres: `CREATE DOMAIN kind AS text NOT NULL;\nCREATE TABLE plants (id bigint PRIMARY KEY, name text, tag kind)`,
    creates: 'tagged',
  },
  'a tag of a domain of a list': {
    postgres: `CREATE DOMAIN kind AS text CHECK (value IN ('herb', 'tree'));\nCREATE TABLE plants (id bigint PRIMARY KEY, name text, tag kind)`,
    plants: herbs,
    acceptsOnlyOwn: true,
    filled: 'plants (id, name)',
  },
  'a computed column': {
    postgres: withMore('slug text GENERATED ALWAYS AS (lower(name)) STORED'),
    mariadb: withMore('slug VARCHAR(99) AS (lower(name)) PERSISTENT'),
    sqlite: withMore('slug TEXT GENERATED ALWAYS AS (lower(name)) STORED'),
  },
  'a computed column that is not stored': {
    mariadb: withMore('slug VARCHAR(99) AS (lower(name)) VIRTUAL'),
    sqlite: withMore('slug TEXT AS (lower(name)) VIRTUAL'),
  },
  'a computed column that is never stored': {
    postgres: withMore('slug text GENERATED ALWAYS AS (lower(name)) VIRTUAL'),
    since: 18,
  },
  'a computed column that is unique': {
    postgres: withMore('slug text GENERATED ALWAYS AS (lower(name)) STORED UNIQUE'),
    mariadb: withMore('slug VARCHAR(99) AS (lower(name)) VIRTUAL UNIQUE'),
    sqlite: `${withMore('slug TEXT AS (lower(name)) VIRTUAL')};\nCREATE UNIQUE INDEX slugs ON plants (slug)`,
  },
  'a computed column that no name has a value of': {
    postgres: withMore('number int GENERATED ALWAYS AS (name::int) STORED'),
    mariadb: withMore('number INT AS (CAST(name AS INTEGER)) PERSISTENT'),
    creates: 'neither',
  },
  'a computed column that takes no null, and has one without a tag': {
    postgres: withMore('label text GENERATED ALWAYS AS (name || tag) STORED NOT NULL'),
    sqlite: withMore('label TEXT GENERATED ALWAYS AS (name || tag) STORED NOT NULL'),
    creates: 'tagged',
  },
  'a name that is computed': {
    postgres:
      "CREATE TABLE plants (id bigint PRIMARY KEY, name text GENERATED ALWAYS AS ('x') STORED, tag text)",
    mariadb: "CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(9) AS ('x') PERSISTENT, tag TEXT)",
    sqlite: "CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT AS ('x') STORED, tag TEXT)",
    creates: 'neither',
  },
  'a tag of another table': {
    ...every(
      `${ofTags}INSERT INTO tags VALUES ('herb');\n${withMore('FOREIGN KEY (tag) REFERENCES tags (tag)')}`,
    ),
    plants: herbs,
    acceptsOnlyOwn: true,
    filled: 'plants (id, name)',
  },
  'a tag of another table that is empty': {
    ...every(`${ofTags}${withMore('FOREIGN KEY (tag) REFERENCES tags (tag)')}`),
    creates: 'untagged',
    filled: 'plants (id, name)',
  },
  'a tag of another table that is empty, asked at COMMIT': {
    ...bothOf(`${ofTags}${withMore(`FOREIGN KEY (tag) REFERENCES tags (tag) ${deferred}`)}`),
    creates: 'untagged',
    filled: 'plants (id, name)',
  },
  'a tag of another table, asked at COMMIT': {
    ...bothOf(
      `${ofTags}INSERT INTO tags VALUES ('herb');\n${withMore(`FOREIGN KEY (tag) REFERENCES tags (tag) ${deferred}`)}`,
    ),
    plants: herbs,
    acceptsOnlyOwn: true,
    filled: 'plants (id, name)',
  },
  'an id of another table that is empty': { ...every(ownersOf('')), creates: 'neither' },
  'an id of another table that is empty, asked at COMMIT': {
    ...bothOf(ownersOf(deferred)),
    creates: 'neither',
  },
  'an id of another table that is empty, with sessions that ask for none': {
    mariadb: ownersOf(''),
    sqlite: ownersOf(deferred),
    session: { mariadb: 'SET foreign_key_checks = 0', sqlite: 'PRAGMA foreign_keys = OFF' },
    filled: false,
  },
  'an id of another table, which may be asked at COMMIT, but is not': {
    ...bothOf(ownersOf('DEFERRABLE INITIALLY IMMEDIATE')),
    creates: 'neither',
  },
  'a foreign key of a table that is not there': {
    sqlite: withMore('FOREIGN KEY (tag) REFERENCES gone (tag)'),
    creates: 'neither',
    filled: false,
  },
  'a plant below itself, asked at COMMIT': {
    ...bothOf(withMore(`parent BIGINT, FOREIGN KEY (parent) REFERENCES plants (id) ${deferred}`)),
  },
  'names that are unique at COMMIT': { postgres: withMore(`UNIQUE (name) ${deferred}`) },
  'names that exclude each other': { postgres: withMore('EXCLUDE USING btree (name WITH =)') },
  'a tag without which the row is left out': {
    sqlite:
      'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT NOT NULL ON CONFLICT IGNORE)',
    creates: 'tagged',
  },
  'a tag without which its default is taken': {
    sqlite:
      "CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '')",
  },
  'a tag without which the transaction ends': {
    sqlite:
      'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT NOT NULL ON CONFLICT ROLLBACK)',
    creates: 'tagged',
  },
  'unique names, of which a second is left out': {
    sqlite:
      'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE ON CONFLICT IGNORE, tag TEXT)',
  },
  'ids of which the last wins': {
    sqlite: 'CREATE TABLE plants (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, name TEXT NOT NULL, tag TEXT)',
  },
  'a rule that calls what is not there': {
    sqlite: withMore('CHECK (json_valid(name) IN (0, 1) AND 1 / 0 IS NULL)'),
  },
  'a column that needs JSON': {
    mariadb: withMore('CHECK (json_valid(tag))'),
    creates: 'untagged',
    filled: false,
  },
};
