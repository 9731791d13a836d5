// Columns, of plants and of the app, in tables that have no rules.
import { every, type KindOptions, type TableKinds } from './checks.js';

const plain = (id: string) => `CREATE TABLE plants (id ${id}, name TEXT NOT NULL, tag TEXT)`;
const withTag = (tag: string) =>
  `CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag ${tag})`;
const withMore = (more: string) =>
  `CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, ${more})`;

const owned = { columns: { owner: ({ caller }) => caller.user } } satisfies KindOptions;

export const columns: TableKinds = {
  'a column of the app that takes no null, and is given': {
    ...every(withMore('owner VARCHAR(99) NOT NULL')),
    options: owned,
    filled: 'plants (id, name, tag, owner)',
  },
  'a column of the app that takes no null': {
    ...every(withMore('owner VARCHAR(99) NOT NULL')),
    creates: 'neither',
  },
  'a column of the app with a default': every(withMore("owner VARCHAR(99) NOT NULL DEFAULT 'nobody'")),
  'a column of the app that is not there, and is given': {
    ...every(plain('BIGINT PRIMARY KEY')),
    options: owned,
    creates: 'neither',
  },
  'a time by default': every(withMore('created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP')),
  'a UUID by default': {
    postgres: withMore('public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid()'),
    mariadb: withMore('public_id UUID NOT NULL UNIQUE DEFAULT (uuid())'),
    sqlite: withMore('public_id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16))))'),
  },
  'JSON by default': {
    postgres: withMore("notes jsonb NOT NULL DEFAULT '{}'"),
    mariadb: withMore("notes JSON NOT NULL DEFAULT '{}'"),
    sqlite: withMore("notes TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(notes))"),
  },
  'an array by default': { postgres: withMore("notes text[] NOT NULL DEFAULT '{}'") },
  'a number of a sequence by default': {
    postgres: `CREATE SEQUENCE numbers;\n${withMore("number bigint NOT NULL DEFAULT nextval('numbers')")}`,
    mariadb: `CREATE OR REPLACE SEQUENCE numbers;\n${withMore('number BIGINT NOT NULL DEFAULT (NEXT VALUE FOR numbers)')}`,
  },
  'a default that fails': {
    postgres: withMore("number int NOT NULL DEFAULT ('x' || now())::int"),
    creates: 'neither',
  },
  'a column that is not shown': { mariadb: withMore('number INT INVISIBLE DEFAULT 7') },
  'a tag that takes no null': { ...every(withTag('VARCHAR(99) NOT NULL')), creates: 'tagged' },
  'a tag that takes no null and is empty by default': {
    ...every(withTag("VARCHAR(99) NOT NULL DEFAULT ''")),
    creates: 'tagged',
  },
  'a tag that takes no null and is empty by default, in sessions that are not strict': {
    mariadb: withTag("VARCHAR(99) NOT NULL DEFAULT ''"),
    session: { mariadb: "SET sql_mode = ''" },
    creates: 'tagged',
  },
  'a tag with a default': every(withTag("VARCHAR(99) DEFAULT 'none'")),
  'a name that takes null': every('CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT, tag TEXT)'),
  'texts of 255 characters': every(
    'CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(255), tag VARCHAR(255))',
  ),
  'texts of a fixed length': {
    ...every('CREATE TABLE plants (id BIGINT PRIMARY KEY, name CHAR(60), tag CHAR(60))'),
    creates: { postgres: 'neither', mariadb: 'neither', sqlite: 'both' },
  },
  'an id of a fixed length': {
    ...every('CREATE TABLE plants (id CHAR(8) PRIMARY KEY, name TEXT, tag TEXT)'),
    creates: { mariadb: 'neither' },
  },
  'names of 16 characters': every('CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(16), tag TEXT)'),
  'a tag of one character': {
    ...every(withTag('VARCHAR(1)')),
    creates: { postgres: 'untagged', mariadb: 'untagged', sqlite: 'both' },
    filled: 'plants (id, name)',
  },
  'texts in latin1': {
    mariadb: `${plain('BIGINT PRIMARY KEY')} CHARACTER SET latin1`,
  },
  'texts in utf8mb3': { mariadb: `${plain('BIGINT PRIMARY KEY')} CHARACTER SET utf8mb3` },
  'texts in ucs2': { mariadb: `${plain('BIGINT PRIMARY KEY')} CHARACTER SET ucs2`, creates: 'neither' },
  'names that are bytes': {
    postgres: 'CREATE TABLE plants (id bigint PRIMARY KEY, name bytea, tag text)',
    mariadb: 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name BLOB, tag TEXT)',
    sqlite: 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name BLOB, tag TEXT)',
    creates: { postgres: 'neither', mariadb: 'neither', sqlite: 'both' },
  },
  'names that are numbers': {
    ...every('CREATE TABLE plants (id BIGINT PRIMARY KEY, name INT, tag TEXT)'),
    creates: 'neither',
  },
  'unique names': {
    postgres: `${plain('bigint PRIMARY KEY')};\nCREATE UNIQUE INDEX ON plants (name)`,
    mariadb: `${plain('BIGINT PRIMARY KEY')};\nCREATE UNIQUE INDEX names ON plants (name(99))`,
    sqlite: `${plain('INTEGER PRIMARY KEY')};\nCREATE UNIQUE INDEX names ON plants (name)`,
  },
  'names that are unique in any letter case': {
    postgres: `${plain('bigint PRIMARY KEY')};\nCREATE UNIQUE INDEX ON plants (lower(name))`,
    mariadb:
      'CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(99) COLLATE utf8mb4_general_ci UNIQUE, tag TEXT)',
    sqlite: 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, tag TEXT)',
  },
  'names of which one exists in each week': {
    ...every(
      "CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(99) NOT NULL, tag TEXT, week VARCHAR(9) NOT NULL DEFAULT '1', UNIQUE (name, week))",
    ),
  },
  'unique tags': every(withTag('VARCHAR(99) UNIQUE')),
  'unique tags, of which null is one': { postgres: withTag('text UNIQUE NULLS NOT DISTINCT') },
  'unique tags, of which null is one and is there': {
    postgres: `${withTag('text UNIQUE NULLS NOT DISTINCT')};\nINSERT INTO plants VALUES (1, 'Betula')`,
    creates: 'tagged',
    filled: false,
  },
  'the largest id is there': {
    ...every(
      `${plain('BIGINT PRIMARY KEY')};\nINSERT INTO plants VALUES (9223372036854775807, 'Betula', NULL)`,
    ),
    filled: false,
  },
  'the smallest id is there': {
    ...every(
      `${plain('BIGINT PRIMARY KEY')};\nINSERT INTO plants VALUES (-9223372036854775808, 'Betula', NULL)`,
    ),
    filled: false,
  },
  'strict types': { sqlite: `${plain('INTEGER PRIMARY KEY')} STRICT` },
  'no rowid': { sqlite: `${plain('INTEGER PRIMARY KEY')} WITHOUT ROWID` },
  'strict types and no rowid': { sqlite: `${plain('INT PRIMARY KEY')} STRICT, WITHOUT ROWID` },
  'no types': { sqlite: 'CREATE TABLE plants (id PRIMARY KEY, name, tag)' },
  'an index of all words': {
    mariadb: `${plain('BIGINT PRIMARY KEY')};\nCREATE FULLTEXT INDEX words ON plants (name)`,
    postgres: `${withMore("words tsvector GENERATED ALWAYS AS (to_tsvector('simple', name)) STORED")};\nCREATE INDEX ON plants USING gin (words)`,
    sqlite: 'CREATE VIRTUAL TABLE plants USING fts5 (id, name, tag)',
    creates: { postgres: 'both', mariadb: 'both', sqlite: 'neither' },
  },
  'an engine without transactions': {
    mariadb: 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(99), tag VARCHAR(99)) ENGINE = MyISAM',
    creates: 'neither',
  },
  'versions of each row': { mariadb: `${plain('BIGINT PRIMARY KEY')} WITH SYSTEM VERSIONING` },
  'a table that is not logged': {
    postgres: `CREATE UNLOGGED TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)`,
  },
  'a table that inherits': {
    postgres: `CREATE TABLE things (name text NOT NULL, tag text);\nCREATE TABLE plants (id bigint PRIMARY KEY) INHERITS (things)`,
  },
};
