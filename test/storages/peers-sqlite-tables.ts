// What an app puts on the table of plants in SQLite, statement by statement: the programs of other runtimes run them, too, without vitest.
import { schema } from 'plant-store/sqlite';
import { unended } from '../support/tables.js';

/** What leaves plants as they are. */
export const onSqlite: Record<string, readonly string[]> = {
  'an audit trigger': [
    'CREATE TABLE log (id INTEGER, name TEXT)',
    'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO log VALUES (new.id, new.name); END',
  ],
  'a full-text index (FTS5)': [
    'CREATE VIRTUAL TABLE texts USING fts5 (name, content=plants, content_rowid=id)',
    'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO texts (rowid, name) VALUES (new.id, new.name); END',
  ],
  'a trigger that counts before each row': [
    'CREATE TABLE counter (n INTEGER)',
    'INSERT INTO counter VALUES (0)',
    'CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN UPDATE counter SET n = n + 1; END',
  ],
  'a trigger of this connection alone': [
    'CREATE TABLE log (id INTEGER)',
    'CREATE TEMP TRIGGER peer AFTER INSERT ON plants BEGIN INSERT INTO log VALUES (new.id); END',
  ],
  'a generated column': ['ALTER TABLE plants ADD COLUMN label AS (upper(name))'],
  'no rowid': ['DROP TABLE plants', `${unended(schema)} WITHOUT ROWID`],
};

/** The same, in files and by statements that not every runtime has. */
export const furtherOnSqlite: Record<string, readonly string[]> = {
  'strict types': ['DROP TABLE plants', `${unended(schema)} STRICT`],
  'ids that count by themselves': [
    'DROP TABLE plants',
    schema.replace('PRIMARY KEY', 'PRIMARY KEY AUTOINCREMENT'),
  ],
  'a unique name': ['CREATE UNIQUE INDEX names ON plants (name)'],
  'a unique index beside a key of its own': [
    'DROP TABLE plants',
    schema.replace('"id" INTEGER PRIMARY KEY', 'no INTEGER PRIMARY KEY, id INTEGER UNIQUE'),
  ],
  'a column with a default': ["ALTER TABLE plants ADD COLUMN kind TEXT NOT NULL DEFAULT 'tree'"],
  'a table in another file': [
    'DROP TABLE plants',
    "ATTACH ':memory:' AS garden",
    schema.replace('"plants"', 'garden.plants'),
  ],
  'a trigger in another file': [
    'DROP TABLE plants',
    "ATTACH ':memory:' AS garden",
    schema.replace('"plants"', 'garden.plants'),
    'CREATE TABLE garden.log (id INTEGER)',
    'CREATE TRIGGER garden.peer BEFORE INSERT ON plants BEGIN INSERT INTO log VALUES (new.id); END',
  ],
};

/** What plant-store cannot use. */
export const refusedBySqlite: Record<string, readonly string[]> = {
  'a view': ['ALTER TABLE plants RENAME TO below', 'CREATE VIEW plants AS SELECT * FROM below'],
  'a column that nobody fills': [
    'DROP TABLE plants',
    schema.replace('"id" INTEGER PRIMARY KEY', 'id INTEGER PRIMARY KEY, n INTEGER NOT NULL'),
  ],
  'an index of some rows': [
    'DROP TABLE plants',
    schema.replace('INTEGER PRIMARY KEY', 'INTEGER'),
    'CREATE UNIQUE INDEX part ON plants (id) WHERE tag IS NULL',
  ],
  'an index of the id and the name': [
    'DROP TABLE plants',
    schema.replace('INTEGER PRIMARY KEY', 'INTEGER'),
    'CREATE UNIQUE INDEX both ON plants (id, name)',
  ],
  'a trigger in another file that deletes the row': [
    'DROP TABLE plants',
    "ATTACH ':memory:' AS garden",
    schema.replace('"plants"', 'garden.plants'),
    'CREATE TRIGGER garden.peer AFTER INSERT ON plants BEGIN DELETE FROM plants WHERE id = new.id; END',
  ],
  'a trigger that takes no plant': [
    "CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'closed'); END",
  ],
};

export const droppingEachRow = 'CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END';
export const changingTheId =
  'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN UPDATE plants SET id = new.id + 100 WHERE id = new.id; END';
