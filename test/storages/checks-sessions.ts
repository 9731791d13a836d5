// What the settings of a session do to a table.
import type { TableKind, TableKinds } from './checks.js';

const plain = 'CREATE TABLE plants (id BIGINT PRIMARY KEY, name VARCHAR(99) NOT NULL, tag VARCHAR(99))';
const impossible = plain.replace(/\)$/, ', CHECK (id < 0 AND id > 0))');
const owned = `CREATE TABLE owners (id BIGINT PRIMARY KEY);\n${plain.replace(/\)$/, ', FOREIGN KEY (id) REFERENCES owners (id)')})`;
const postgres = (session: string, sql = plain): TableKind => ({
  postgres: sql,
  session: { postgres: session },
});
const mariadb = (session: string, sql = plain): TableKind => ({
  mariadb: sql,
  session: { mariadb: session },
});
const sqlite = (session: string, sql = plain): TableKind => ({ sqlite: sql, session: { sqlite: session } });

export const sessions: TableKinds = {
  'sessions that are serializable': postgres("SET default_transaction_isolation = 'serializable'"),
  'sessions that read repeatably': postgres("SET default_transaction_isolation = 'repeatable read'"),
  'sessions that read only what was there, on MariaDB': mariadb('SET tx_isolation = SERIALIZABLE'),
  'sessions of a replica, which run no triggers': {
    ...postgres('SET session_replication_role = replica', owned),
    filled: false,
  },
  'sessions that end at a policy': {
    ...postgres(
      'SET row_security = off',
      `${plain};\nALTER TABLE plants ENABLE ROW LEVEL SECURITY;\nCREATE POLICY rows ON plants USING (true);\nGRANT SELECT, INSERT ON plants TO app`,
    ),
    isOfUser: true,
    creates: 'neither',
  },
  'sessions of another schema': {
    ...postgres(
      'SET search_path = garden',
      `CREATE SCHEMA garden;\n${plain.replace('plants', 'garden.plants')}`,
    ),
    filled: 'garden.plants (id, name, tag)',
  },
  'sessions of a schema that has no such table': {
    ...postgres('SET search_path = garden', `CREATE SCHEMA garden;\n${plain}`),
    creates: 'neither',
  },
  'sessions that wait for no lock': postgres("SET lock_timeout = '1ms'"),
  'sessions that spell strings as of old': postgres('SET standard_conforming_strings = off'),
  'sessions that do not commit by themselves': { ...mariadb('SET autocommit = 0'), creates: 'neither' },
  'sessions that begin anew at COMMIT': mariadb("SET completion_type = 'CHAIN'"),
  'sessions that end at COMMIT': mariadb("SET completion_type = 'RELEASE'"),
  'sessions in the mode of another standard': mariadb("SET sql_mode = 'ANSI'"),
  'sessions in the mode of Oracle': mariadb("SET sql_mode = 'ORACLE'"),
  'sessions that are not strict': mariadb("SET sql_mode = ''"),
  'sessions without backslashes': mariadb("SET sql_mode = 'NO_BACKSLASH_ESCAPES'"),
  'sessions that lose empty texts': {
    ...mariadb("SET sql_mode = 'EMPTY_STRING_IS_NULL'"),
    creates: 'neither',
  },
  'sessions that see what may be rolled back': {
    ...mariadb("SET tx_isolation = 'READ-UNCOMMITTED'"),
    creates: 'neither',
  },
  'sessions in latin1': { ...mariadb('SET NAMES latin1'), creates: 'neither' },
  'sessions that check no rules': {
    mariadb: impossible,
    sqlite: impossible,
    session: { mariadb: 'SET check_constraint_checks = 0', sqlite: 'PRAGMA ignore_check_constraints = ON' },
    filled: false,
  },
  'sessions with another number of the first id': mariadb(
    'SET auto_increment_increment = 10, auto_increment_offset = 3',
    plain.replace('BIGINT', 'BIGINT AUTO_INCREMENT'),
  ),
  'sessions with a trigger of their own': {
    ...sqlite(
      "CREATE TEMP TRIGGER work BEFORE INSERT ON main.plants BEGIN SELECT RAISE(ABORT, 'closed'); END",
    ),
    creates: 'neither',
  },
  'sessions whose triggers run triggers': sqlite(
    'PRAGMA recursive_triggers = ON',
    `${plain};\nCREATE TRIGGER work AFTER INSERT ON plants WHEN new.tag IS NULL BEGIN UPDATE plants SET tag = 'none' WHERE id = new.id; END`,
  ),
  'sessions that trust no schema': sqlite('PRAGMA trusted_schema = OFF'),
  'sessions that return rows in another order': sqlite('PRAGMA reverse_unordered_selects = ON'),
};
