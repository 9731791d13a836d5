const constraint =
  'A constraint of the table rejects the plant: the option refuse responds 400 with a text of yours';
const value = 'A column cannot hold a value: widen it, or respond 400 by the option refuse';
const disk = 'The disk is full, or a limit of it is reached: make room. plant-store retries';
const connections = 'The server has no connection left: lower the max of the pools, or raise its limit';
const lock = 'Another transaction holds the lock: find it, and end it';
const collision =
  'Transactions collide: look for the other one in the log of the database. plant-store retries';
const readOnly =
  'The server is read-only: a standby, or an old primary. Check which server the pool connects to';
const grant = 'The role of the pool may not do this: grant it';
const slow = 'The statement was cancelled, mostly by its time limit: look for a lock or a slow trigger';
const sessionEnded = 'The server ended the session: it restarts, or somebody has ended it';
const missing =
  'Something that a statement needs is missing: has the migration run? Or a trigger names what is gone';
const raised = 'A trigger or a function of the app raised it';
const broken = 'The connection broke: check the network, the pooler, and the log of the database';
const certificate = 'The certificate of the server is not trusted: check the TLS options of the client';
const noTls = 'The server speaks no TLS there: check the TLS options of the client, and the port';
const file = 'SQLite cannot use its file: check the path, its owner, and the disk';
const unresolved = 'The name of the host is not found: check it, and DNS';

/** What to do about a code: by the code itself, by the class of a SQLSTATE, or by SQLite's primary code. */
export const advice: Readonly<Record<string, string>> = {
  '08': broken,
  '22': value,
  '23': constraint,
  '23502': 'A column without a default got no value: give it a default, or fill it by the option columns',
  '25006': readOnly,
  '25P02': 'The connection came with a failed transaction: end transactions before you release a connection',
  '25P03': sessionEnded,
  '40': collision,
  '42': missing,
  '42501': grant,
  '44': 'The CHECK OPTION of a view rejects the plant',
  '53': disk,
  '53300': connections,
  '54': 'A limit of the server is reached: its manual names it',
  '55P03': lock,
  '57': sessionEnded,
  '57014': slow,
  '57P03': 'The server is starting or stopping: wait. plant-store retries',
  '58': 'The server cannot read or write its files: see its own log',
  P0: raised,
  XX: 'The server met a fault of its own: see its own log',

  1020: collision,
  1021: disk,
  1040: connections,
  1047: 'The node of the cluster takes no statements: it has no quorum, or is joining',
  1048: constraint,
  1054: missing,
  1062: 'A unique key of the table has this value already: the option refuse responds 400 with a text of yours',
  1114: disk,
  1142: grant,
  1143: grant,
  1146: missing,
  1153: 'The statement is larger than max_allowed_packet: raise it',
  1203: connections,
  1205: lock,
  1213: collision,
  1226: connections,
  1264: value,
  1265: value,
  1290: readOnly,
  1356: missing,
  1364: 'A column without a default got no value: give it a default, or fill it by the option columns',
  1366: value,
  1406: value,
  1449: missing,
  1452: constraint,
  1644: raised,
  1792: readOnly,
  1836: readOnly,
  1927: sessionEnded,
  1969: slow,
  3024: slow,
  3819: constraint,
  4025: constraint,
  4031: sessionEnded,

  SQLITE_BUSY:
    'Another connection writes to the file: plant-store retries. fuser -v shows the processes that have it open',
  SQLITE_CANTOPEN: file,
  SQLITE_CONSTRAINT: constraint,
  SQLITE_CONSTRAINT_TRIGGER: raised,
  SQLITE_CORRUPT: 'The file is damaged: restore it from a backup',
  SQLITE_ERROR: missing,
  SQLITE_FULL: disk,
  SQLITE_IOERR: file,
  SQLITE_LOCKED: lock,
  SQLITE_NOTADB: 'The file is no database, or it is encrypted',
  SQLITE_READONLY: 'The file cannot be written: check its owner, and whether it was moved',

  ECONNREFUSED: 'Nobody listens there: start the server, or check host and port',
  ECONNRESET: broken,
  EPIPE: broken,
  ETIMEDOUT: 'Nobody responds there: check host, port and firewalls',
  EHOSTUNREACH: 'No network leads there: check host and routes',
  ENETUNREACH: 'No network leads there: check host and routes',
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  EACCES: 'This process may not do that: check the owner of the file, or take another port',
  ENOENT: 'There is no such file or folder',
  ENOSPC: disk,
  EMFILE: 'This process has too many files open: raise its limit',
  CERT_HAS_EXPIRED: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  HANDSHAKE_NO_SSL_SUPPORT: noTls,
  PROTOCOL_CONNECTION_LOST: broken,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
};

/**
 * Returns what an operator does about a code, in a sentence.
 *
 * @param shown the code, and the name of its condition if it has one
 */
export function adviceOn(shown = ''): string {
  const code = shown.split(' ', 1)[0]!;
  const general = code.startsWith('SQLITE_') ? code.split('_', 2).join('_') : code.slice(0, 2);
  const key = [code, general].find((each) => Object.hasOwn(advice, each));
  return key === undefined ? '' : advice[key]!;
}
