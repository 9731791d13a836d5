// Triggers, good and broken.
import type { TableKind, TableKinds } from './checks.js';

const plain = 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(99) NOT NULL, tag VARCHAR(99))';
const log = 'CREATE TABLE log (plant BIGINT, what VARCHAR(99))';

/** @param body of a function, whose other parts are the same for each */
const postgres = (body: string, when = 'BEFORE INSERT', table = plain, each = 'FOR EACH ROW') =>
  `${table};\nCREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
CREATE TRIGGER work ${when} ON plants ${each} EXECUTE FUNCTION work()`;
const mariadb = (body: string, when = 'BEFORE INSERT', table = plain) =>
  `${table};\nCREATE TRIGGER work ${when} ON plants FOR EACH ROW BEGIN ${body} END`;
const sqlite = (body: string, when = 'BEFORE INSERT', table = plain) =>
  `${table};\nCREATE TRIGGER work ${when} ON plants BEGIN ${body} END`;
const logged = `${plain};\n${log}`;
const write = "INSERT INTO log VALUES (new.id, 'created');";
const needsTag = plain.replace(/tag .*/, 'tag VARCHAR(99) NOT NULL)');
const needsSlug = plain.replace(/\)$/, ', slug VARCHAR(99) NOT NULL)');
const brokenLog = (deferred: string) =>
  `${plain};\nCREATE TABLE years (id BIGINT PRIMARY KEY);
CREATE TABLE log (plant BIGINT, what VARCHAR(99), FOREIGN KEY (plant) REFERENCES years (id) ${deferred})`;
const asked: TableKind['plants'] = [{ name: 'Rosa canina', tag: 'herb' }, { name: 'Acer' }];

export const triggers: TableKinds = {
  'a trigger that writes a log': {
    postgres: postgres(`${write} RETURN new;`, 'BEFORE INSERT', logged),
    mariadb: mariadb(write, 'BEFORE INSERT', logged),
    sqlite: sqlite(write, 'BEFORE INSERT', logged),
  },
  'a trigger that writes a log afterwards': {
    postgres: postgres(`${write} RETURN NULL;`, 'AFTER INSERT', logged),
    mariadb: mariadb(write, 'AFTER INSERT', logged),
    sqlite: sqlite(write, 'AFTER INSERT', logged),
  },
  'a trigger of each statement, which writes what it sees': {
    postgres: postgres(
      "INSERT INTO log SELECT id, 'created' FROM fresh; RETURN NULL;",
      'AFTER INSERT',
      logged,
      'REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT',
    ),
  },
  'a trigger that writes a log at COMMIT': {
    postgres: `${logged};
CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${write} RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER work AFTER INSERT ON plants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION work()`,
  },
  'a trigger that rejects each plant at COMMIT': {
    postgres: `${plain};
CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the garden is full'; END $$;
CREATE CONSTRAINT TRIGGER work AFTER INSERT ON plants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION work()`,
    creates: 'neither',
  },
  'a trigger that counts in another row': {
    postgres: postgres(
      'UPDATE counts SET n = n + 1; RETURN new;',
      'BEFORE INSERT',
      `${plain};\nCREATE TABLE counts (n int);\nINSERT INTO counts VALUES (0)`,
    ),
    mariadb: mariadb(
      'UPDATE counts SET n = n + 1;',
      'AFTER INSERT',
      `${plain};\nCREATE TABLE counts (n INT);\nINSERT INTO counts VALUES (0)`,
    ),
    sqlite: sqlite(
      'UPDATE counts SET n = n + 1;',
      'AFTER INSERT',
      `${plain};\nCREATE TABLE counts (n INT);\nINSERT INTO counts VALUES (0)`,
    ),
  },
  'a trigger that counts all numbers of 16 bits': {
    postgres: postgres(
      'UPDATE counts SET n = n + 1; RETURN new;',
      'BEFORE INSERT',
      `${plain};\nCREATE TABLE counts (n smallint);\nINSERT INTO counts VALUES (32767)`,
    ),
    mariadb: mariadb(
      'UPDATE counts SET n = n + 1;',
      'BEFORE INSERT',
      `${plain};\nCREATE TABLE counts (n SMALLINT);\nINSERT INTO counts VALUES (32767)`,
    ),
    creates: 'neither',
  },
  'a trigger that notifies': { postgres: postgres("PERFORM pg_notify('plants', new.name); RETURN new;") },
  'a trigger that fills a tag that takes no null': {
    postgres: postgres("new.tag := coalesce(new.tag, 'none'); RETURN new;", 'BEFORE INSERT', needsTag),
    mariadb: mariadb("SET new.tag = coalesce(new.tag, 'none');", 'BEFORE INSERT', needsTag),
    sqlite: sqlite("UPDATE plants SET tag = 'none' WHERE tag IS NULL;", 'AFTER INSERT', needsTag),
    creates: { sqlite: 'tagged' },
  },
  'a trigger that fills an empty tag afterwards': {
    sqlite: sqlite("UPDATE plants SET tag = 'none' WHERE id = new.id AND tag IS NULL;", 'AFTER INSERT'),
    postgres: postgres(
      "UPDATE plants SET tag = 'none' WHERE id = new.id AND tag IS NULL; RETURN NULL;",
      'AFTER INSERT',
    ),
    mariadb: mariadb("UPDATE plants SET tag = 'none' WHERE id = new.id;", 'AFTER INSERT'),
    creates: { mariadb: 'neither' },
  },
  'a trigger that fills a column of the app that takes no null': {
    postgres: postgres('new.slug := lower(new.name); RETURN new;', 'BEFORE INSERT', needsSlug),
    mariadb: mariadb('SET new.slug = lower(new.name);', 'BEFORE INSERT', needsSlug),
    sqlite: sqlite('UPDATE plants SET slug = lower(name);', 'AFTER INSERT', needsSlug),
    creates: { sqlite: 'neither' },
    filled: 'plants (id, name, tag, slug)',
  },
  'a trigger that writes a log, whose foreign key is broken': {
    postgres: postgres(`${write} RETURN new;`, 'AFTER INSERT', brokenLog('')),
    mariadb: mariadb(write, 'AFTER INSERT', brokenLog('')),
    sqlite: sqlite(write, 'AFTER INSERT', brokenLog('')),
    creates: 'neither',
  },
  'a trigger that writes a log, whose foreign key is broken at COMMIT': {
    postgres: postgres(`${write} RETURN new;`, 'AFTER INSERT', brokenLog('DEFERRABLE INITIALLY DEFERRED')),
    sqlite: sqlite(write, 'AFTER INSERT', brokenLog('DEFERRABLE INITIALLY DEFERRED')),
    creates: 'neither',
  },
  'a trigger that keeps an index of all words': {
    sqlite: sqlite(
      'INSERT INTO words (rowid, name) VALUES (new.id, new.name);',
      'AFTER INSERT',
      `${plain.replace('BIGINT', 'INTEGER')};\nCREATE VIRTUAL TABLE words USING fts5 (name, content = plants, content_rowid = id)`,
    ),
  },
  'a trigger that finds nothing': {
    mariadb: mariadb("SIGNAL SQLSTATE '02000';"),
    postgres: postgres('RAISE no_data_found;'),
    creates: 'neither',
  },
  'a trigger that warns': {
    mariadb: mariadb("SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'old';"),
    postgres: postgres("RAISE WARNING 'old'; RETURN new;"),
  },
  'a trigger that cuts names': {
    postgres: postgres('new.name := trim(new.name); RETURN new;'),
    mariadb: mariadb('SET new.name = trim(new.name);'),
  },
  'a trigger that gives other ids': {
    postgres: postgres('new.id := new.id + 100000; RETURN new;'),
    mariadb: mariadb('SET new.id = new.id + 100000;'),
    sqlite: sqlite('UPDATE plants SET id = id + 100000 WHERE id = new.id;', 'AFTER INSERT'),
    creates: 'neither',
    filled: false,
  },
  'a trigger that drops each row': {
    postgres: postgres('RETURN NULL;'),
    sqlite: sqlite('SELECT RAISE(IGNORE);'),
    creates: 'neither',
  },
  'a trigger that drops rows without a tag': {
    postgres: postgres('IF new.tag IS NULL THEN RETURN NULL; END IF; RETURN new;'),
    sqlite: sqlite('SELECT RAISE(IGNORE) WHERE new.tag IS NULL;'),
    creates: 'tagged',
  },
  'a trigger that deletes each row afterwards': {
    postgres: postgres('DELETE FROM plants WHERE id = new.id; RETURN NULL;', 'AFTER INSERT'),
    sqlite: sqlite('DELETE FROM plants WHERE id = new.id;', 'AFTER INSERT'),
    creates: 'neither',
  },
  'a trigger that moves each row to another table': {
    postgres: postgres(
      'INSERT INTO archive VALUES (new.*); RETURN NULL;',
      'BEFORE INSERT',
      `${plain};\nCREATE TABLE archive (LIKE plants)`,
    ),
    creates: 'neither',
  },
  'a trigger that rejects each plant': {
    postgres: postgres("RAISE 'the garden is full';"),
    mariadb: mariadb("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the garden is full';"),
    sqlite: sqlite("SELECT RAISE(ABORT, 'the garden is full');"),
    creates: 'neither',
  },
  'a trigger that rejects each plant, and ends the transaction': {
    sqlite: sqlite("SELECT RAISE(ROLLBACK, 'the garden is full');"),
    creates: 'neither',
  },
  'a trigger that rejects each plant, and ends nothing': {
    sqlite: sqlite("SELECT RAISE(FAIL, 'the garden is full');", 'AFTER INSERT'),
    creates: 'neither',
  },
  'a trigger that rejects plants without a tag': {
    postgres: postgres("IF new.tag IS NULL THEN RAISE 'no tag'; END IF; RETURN new;"),
    mariadb: mariadb("IF new.tag IS NULL THEN SIGNAL SQLSTATE '45000'; END IF;"),
    sqlite: sqlite("SELECT RAISE(ABORT, 'no tag') WHERE new.tag IS NULL;"),
    creates: 'tagged',
  },
  'a trigger that rejects tags of no list': {
    postgres: postgres("IF new.tag <> 'herb' THEN RAISE 'unknown'; END IF; RETURN new;"),
    mariadb: mariadb("IF new.tag <> 'herb' THEN SIGNAL SQLSTATE '45000'; END IF;"),
    sqlite: sqlite("SELECT RAISE(ABORT, 'unknown') WHERE new.tag <> 'herb';"),
    plants: asked,
    acceptsOnlyOwn: true,
    filled: false,
  },
  'a trigger that raises as if another had locked the table': {
    postgres: postgres("RAISE 'closed' USING ERRCODE = '23505';"),
    mariadb: mariadb("SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = 'closed';"),
    creates: 'neither',
  },
  'a trigger of a table that is not there': {
    postgres: postgres("INSERT INTO audit VALUES (new.id, 'created'); RETURN new;"),
    mariadb: mariadb("INSERT INTO audit VALUES (new.id, 'created');"),
    sqlite: sqlite("INSERT INTO audit VALUES (new.id, 'created');"),
    creates: 'neither',
  },
  'a trigger of a column that is not there': {
    postgres: postgres('INSERT INTO log (gone) VALUES (1); RETURN new;', 'BEFORE INSERT', logged),
    mariadb: mariadb('INSERT INTO log (gone) VALUES (1);', 'BEFORE INSERT', logged),
    sqlite: sqlite('INSERT INTO log (gone) VALUES (1);', 'BEFORE INSERT', logged),
    creates: 'neither',
  },
  'a trigger of a function that is not there': {
    postgres: postgres('PERFORM gone(new.id); RETURN new;'),
    mariadb: mariadb('SET new.tag = gone(new.id);'),
    creates: 'neither',
  },
  'a trigger of a view whose table is gone': {
    mariadb: `${plain};\n${log};\nCREATE VIEW audit AS SELECT * FROM log;\nDROP TABLE log;
CREATE TRIGGER work BEFORE INSERT ON plants FOR EACH ROW INSERT INTO audit VALUES (new.id, 'created')`,
    creates: 'neither',
  },
  'a trigger whose definer is gone': {
    mariadb: `${plain};\nCREATE DEFINER = nobody@nowhere TRIGGER work BEFORE INSERT ON plants FOR EACH ROW SET new.tag = new.tag`,
    creates: 'neither',
  },
  'a trigger whose definer may not do it': {
    mariadb: `${logged};\nCREATE OR REPLACE USER weak@'127.0.0.1';\nGRANT INSERT, SELECT, TRIGGER ON plants.plants TO weak@'127.0.0.1';
CREATE DEFINER = weak@'127.0.0.1' TRIGGER work BEFORE INSERT ON plants FOR EACH ROW ${write}`,
    creates: 'neither',
  },
  'a trigger of a table that the user may not write': {
    postgres: `${postgres(`${write} RETURN new;`, 'BEFORE INSERT', logged)};\nGRANT SELECT, INSERT ON plants TO app`,
    isOfUser: true,
    creates: 'neither',
    filled: false,
  },
  'a trigger of a table that its definer may write': {
    postgres: `${postgres(`${write} RETURN new;`, 'BEFORE INSERT', logged)};
ALTER FUNCTION work() SECURITY DEFINER;\nGRANT SELECT, INSERT ON plants TO app`,
    mariadb: `${mariadb(write, 'BEFORE INSERT', logged)};\nGRANT SELECT, INSERT ON plants.plants TO app@'127.0.0.1'`,
    isOfUser: true,
  },
  'a trigger that divides by zero': {
    postgres: postgres('new.name := 1 / (new.id - new.id); RETURN new;'),
    creates: 'neither',
  },
  'a trigger that needs a setting': {
    postgres: postgres("new.tag := current_setting('app.tag'); RETURN new;"),
    session: { postgres: "SET app.tag = 'herb'" },
    filled: false,
  },
  'a trigger that needs a setting that is not set': {
    postgres: postgres("new.tag := current_setting('app.tag'); RETURN new;"),
    creates: 'neither',
  },
  'a trigger that needs a variable that is not set': {
    mariadb: mariadb("IF @tenant IS NULL THEN SIGNAL SQLSTATE '45000'; END IF;"),
    creates: 'neither',
  },
  'a trigger that is disabled': {
    postgres: `${postgres("RAISE 'closed';")};\nALTER TABLE plants DISABLE TRIGGER work`,
  },
  'a trigger with a condition': {
    postgres: `${plain};\nCREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'closed'; END $$;
CREATE TRIGGER work BEFORE INSERT ON plants FOR EACH ROW WHEN (new.tag IS NOT NULL) EXECUTE FUNCTION work()`,
    sqlite: `${plain};\nCREATE TRIGGER work BEFORE INSERT ON plants WHEN new.tag IS NOT NULL BEGIN SELECT RAISE(ABORT, 'closed'); END`,
    creates: 'untagged',
    filled: 'plants (id, name)',
  },
  'a trigger of updates': {
    postgres: postgres("RAISE 'closed';", 'BEFORE UPDATE'),
    mariadb: mariadb("SIGNAL SQLSTATE '45000';", 'BEFORE UPDATE'),
    sqlite: sqlite("SELECT RAISE(ABORT, 'closed');", 'BEFORE UPDATE'),
  },
};
