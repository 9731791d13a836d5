// What an app puts on the table of plants in SQLite, statement by statement: the programs of other runtimes run them, too, without vitest.
import { schema } from 'plant-store/sqlite';

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
  'no rowid': ['DROP TABLE plants', `${schema} WITHOUT ROWID`],
};

export const droppingEachRow = 'CREATE TRIGGER peer BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END';
export const changingTheId =
  'CREATE TRIGGER peer AFTER INSERT ON plants BEGIN UPDATE plants SET id = new.id + 100 WHERE id = new.id; END';
