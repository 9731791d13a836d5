// Views, partitions, rules of PostgreSQL, and what a user may do.
import { every, type TableKinds } from './checks.js';

const columns = '(id BIGINT PRIMARY KEY, name VARCHAR(99) NOT NULL, tag VARCHAR(99))';
const plain = `CREATE TABLE plants ${columns}`;
const base = `CREATE TABLE base ${columns}`;
const view = (select: string) => `${base};\nCREATE VIEW plants AS ${select}`;
/** SQLite keeps no id unique in a view. */
const notOnSqlite = { sqlite: 'neither' } as const;
const parts = (by: string, ...partitions: string[]) =>
  [
    `${plain} PARTITION BY ${by}`,
    ...partitions.map((part, i) => `CREATE TABLE part${i} PARTITION OF plants ${part}`),
  ].join(';\n');

const secured = `${plain};\nALTER TABLE plants ENABLE ROW LEVEL SECURITY;\nGRANT SELECT, INSERT ON plants TO app`;
const withTenant = `CREATE TABLE plants (id bigint PRIMARY KEY, name text, tag text, tenant text NOT NULL DEFAULT current_setting('app.tenant', true));
ALTER TABLE plants ENABLE ROW LEVEL SECURITY;\nGRANT SELECT, INSERT ON plants TO app`;
const policy = (sql: string, table = secured) => `${table};\nCREATE POLICY rows ON plants ${sql}`;
const granted = (rights: string) => ({
  postgres: `${plain};\nGRANT ${rights} ON plants TO app`,
  mariadb: `${plain};\nGRANT ${rights} ON plants.plants TO app@'127.0.0.1'`,
  isOfUser: true,
});

export const views: TableKinds = {
  'a view': { ...every(view('SELECT id, name, tag FROM base')), creates: notOnSqlite },
  'a view of some columns of its table': {
    ...every(
      `${base.replace(/\)$/, ', more INT DEFAULT 7)')};\nCREATE VIEW plants AS SELECT id, name, tag FROM base`,
    ),
    creates: notOnSqlite,
  },
  'a view that leaves out a column that takes no null': {
    ...every(
      `${base.replace(/\)$/, ', more INT NOT NULL)')};\nCREATE VIEW plants AS SELECT id, name, tag FROM base`,
    ),
    creates: 'neither',
  },
  'a view that hides what is inserted': {
    ...every(view('SELECT id, name, tag FROM base WHERE id < 0')),
    creates: 'neither',
  },
  'a view that hides plants without a tag': {
    postgres: view('SELECT id, name, tag FROM base WHERE tag IS NOT NULL'),
    creates: 'tagged',
  },
  'a view that rejects what it hides': {
    ...every(view('SELECT id, name, tag FROM base WHERE id < 0')),
    postgres: view('SELECT id, name, tag FROM base WHERE id < 0 WITH CHECK OPTION'),
    mariadb: view('SELECT id, name, tag FROM base WHERE id < 0 WITH CHECK OPTION'),
    creates: 'neither',
  },
  'a view that rejects what it would hide, and hides nothing that is sent': {
    postgres: view("SELECT id, name, tag FROM base WHERE name <> 'secret' WITH CHECK OPTION"),
  },
  'a view of two tables': {
    ...every(
      `${base};\nCREATE TABLE other (id BIGINT PRIMARY KEY);\nCREATE VIEW plants AS SELECT base.* FROM base JOIN other ON other.id = base.id`,
    ),
    creates: 'neither',
  },
  'a view with a trigger instead': {
    postgres: `${view('SELECT id, name, tag FROM base')};
CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO base VALUES (new.*); RETURN new; END $$;
CREATE TRIGGER work INSTEAD OF INSERT ON plants FOR EACH ROW EXECUTE FUNCTION work()`,
    sqlite: `${view('SELECT id, name, tag FROM base')};
CREATE TRIGGER work INSTEAD OF INSERT ON plants BEGIN INSERT INTO base VALUES (new.id, new.name, new.tag); END`,
    creates: 'neither',
  },
  'a view that is stored': {
    postgres: `${base};\nCREATE MATERIALIZED VIEW plants AS SELECT * FROM base`,
    creates: 'neither',
  },
  'a view whose table is gone': {
    mariadb: `${view('SELECT id, name, tag FROM base')};\nDROP TABLE base`,
    sqlite: `${view('SELECT id, name, tag FROM base')};\nDROP TABLE base`,
    creates: 'neither',
  },
  'a rule that does something instead': {
    postgres: `${plain};\nCREATE RULE nothing AS ON INSERT TO plants DO INSTEAD NOTHING`,
    creates: 'neither',
  },
  'a rule that does something besides': {
    postgres: `${plain};\nCREATE TABLE log (id bigint);\nCREATE RULE besides AS ON INSERT TO plants DO ALSO INSERT INTO log VALUES (1)`,
    creates: 'neither',
  },
  'partitions by hash': {
    postgres: parts(
      'HASH (id)',
      'FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
      'FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
    ),
    mariadb: `${plain} PARTITION BY HASH (id) PARTITIONS 3`,
  },
  'partitions of a range and all else': {
    postgres: parts('RANGE (id)', 'FOR VALUES FROM (0) TO (500)', 'DEFAULT'),
    mariadb: `${plain} PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (500), PARTITION b VALUES LESS THAN MAXVALUE)`,
  },
  'a partition of four digits': {
    postgres: parts('RANGE (id)', 'FOR VALUES FROM (1) TO (10000)'),
    mariadb: `${plain} PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10000))`,
  },
  'a partition that has no such ids': {
    postgres: parts('RANGE (id)', 'FOR VALUES FROM (-9) TO (0)'),
    mariadb: `${plain} PARTITION BY LIST (id) (PARTITION a VALUES IN (-9))`,
    creates: 'neither',
  },
  'no partitions': { postgres: parts('RANGE (id)'), creates: 'neither' },
  'a partition without a partition': {
    postgres: `${parts('RANGE (id)')};\nCREATE TABLE part PARTITION OF plants FOR VALUES FROM (0) TO (MAXVALUE) PARTITION BY HASH (id)`,
    creates: 'neither',
  },
  'partitions by the tag, without which no key is possible': {
    postgres: `CREATE TABLE plants (id bigint, name text, tag text) PARTITION BY LIST (tag);\nCREATE TABLE part PARTITION OF plants DEFAULT`,
    creates: 'neither',
  },
  'a partition with a rule of its own': {
    postgres: `${parts('RANGE (id)', 'DEFAULT')};\nALTER TABLE part0 ALTER tag SET NOT NULL`,
    creates: 'tagged',
  },
  'a partition with a trigger that drops each row': {
    postgres: `${parts('RANGE (id)', 'DEFAULT')};
CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER work BEFORE INSERT ON part0 FOR EACH ROW EXECUTE FUNCTION work()`,
    creates: 'neither',
  },
  'security of rows, of the owner': { postgres: `${plain};\nALTER TABLE plants ENABLE ROW LEVEL SECURITY` },
  'security of rows without a policy': { postgres: secured, isOfUser: true, creates: 'neither' },
  'a policy that lets all': { postgres: policy('USING (true)'), isOfUser: true },
  'policies for reading and for writing': {
    postgres: `${policy('FOR SELECT USING (true)')};\nCREATE POLICY new ON plants FOR INSERT WITH CHECK (true)`,
    isOfUser: true,
  },
  'a policy by a setting': {
    postgres: policy("USING (tenant = current_setting('app.tenant'))", withTenant),
    session: { postgres: "SET app.tenant = 'garden'" },
    isOfUser: true,
    filled: 'plants (id, name, tag, tenant)',
  },
  'a policy by a setting that is not set': {
    postgres: policy("USING (tenant = current_setting('app.tenant'))", withTenant),
    isOfUser: true,
    creates: 'neither',
  },
  'a policy by a setting that is not set, and then null': {
    postgres: policy(
      "USING (tenant = current_setting('app.tenant', true))",
      withTenant.replace('NOT NULL DEFAULT', 'DEFAULT'),
    ),
    isOfUser: true,
    creates: 'neither',
  },
  'a policy by a setting that is no number': {
    postgres: policy("USING (length(tenant) = current_setting('app.tenant')::int)", withTenant),
    session: { postgres: "SET app.tenant = ''" },
    isOfUser: true,
    creates: 'neither',
  },
  'a policy that hides what is inserted': {
    postgres: `${policy('FOR SELECT USING (id < 0)')};\nCREATE POLICY new ON plants FOR INSERT WITH CHECK (true)`,
    isOfUser: true,
    creates: 'neither',
  },
  'a policy for writing alone': {
    postgres: policy('FOR INSERT WITH CHECK (true)'),
    isOfUser: true,
    creates: 'neither',
  },
  'a policy for reading alone': {
    postgres: policy('FOR SELECT USING (true)'),
    isOfUser: true,
    creates: 'neither',
  },
  'a policy by the tag': {
    postgres: policy('USING (true) WITH CHECK (tag IS NOT NULL)'),
    isOfUser: true,
    creates: 'tagged',
  },
  'a policy that restricts another': {
    postgres: `${policy('USING (true)')};\nCREATE POLICY less ON plants AS RESTRICTIVE USING (tag IS NULL)`,
    isOfUser: true,
    creates: 'untagged',
    filled: 'plants (id, name)',
  },
  'a policy of a table that the user may not read': {
    postgres: `CREATE TABLE members (name text);\n${policy('USING (EXISTS (SELECT FROM members))')}`,
    isOfUser: true,
    creates: 'neither',
  },
  'rights to read and to insert': granted('SELECT, INSERT'),
  // MariaDB creates there, and cannot tell whether an id is taken.
  'a right to insert alone': {
    postgres: granted('INSERT').postgres,
    isOfUser: true,
    creates: 'neither',
  },
  'a right to read alone': { ...granted('SELECT'), creates: 'neither' },
  'no rights': { ...granted('UPDATE'), creates: 'neither' },
  'a right to insert without the tag': { ...granted('SELECT, INSERT (id, name)'), creates: 'neither' },
  'no right to the schema': {
    postgres: `CREATE SCHEMA garden;\nCREATE TABLE garden.plants ${columns};\nGRANT SELECT, INSERT ON garden.plants TO app`,
    options: { table: 'garden.plants' },
    isOfUser: true,
    creates: 'neither',
  },
  'a number of a sequence that the user may not use': {
    postgres: `CREATE SEQUENCE numbers;\n${plain.replace(/\)$/, ", number bigint DEFAULT nextval('numbers'))")};\nGRANT SELECT, INSERT ON plants TO app`,
    isOfUser: true,
    creates: 'neither',
  },
};
