import { domErrors, mysqlNumbers, plainCodes, sqliteResults, sqlStates } from './code-tables.js';
import { classOf } from './inspect.js';
import { propertyOf } from './property-of.js';

/** How the log shows each code. A number is looked up behind the name of its owner. Made when the first line needs it. */
let shownCodes: ReadonlyMap<unknown, string> | undefined;

function readTables(): ReadonlyMap<unknown, string> {
  const shown = new Map<unknown, string>();
  const read = (table: string, add: (pair: string, code: string, name: string) => unknown) => {
    const words = table.trim().split(/\s+/);
    for (let i = 0; i < words.length; i += 2) add(`${words[i]} ${words[i + 1]}`, words[i]!, words[i + 1]!);
  };
  for (const code of plainCodes.trim().split(/\s+/)) shown.set(code, code);
  read(sqlStates, (pair, code) => shown.set(code, pair));
  read(mysqlNumbers, (pair, number, name) => shown.set(`MySQL ${number}`, pair).set(name, pair));
  read(sqliteResults, (_, number, name) => shown.set(`SQLite ${number}`, name).set(name, name));
  read(domErrors, (_, number, name) => shown.set(`DOMException ${number}`, name));
  return shown;
}

/**
 * Returns the code of an error, with the name of its condition, if it stands in a table of this package: any other may be a value of
 * a request. MySQL's number stands in `errno` beside a `sqlState`; that of node:sqlite in `errcode`, whose lowest byte is the primary
 * code; a SQLSTATE in `code`, of Prisma's adapters in `originalCode`, of Bun in `errno`.
 */
export function knownCodeIn(error: object): string | undefined {
  shownCodes ??= readTables();
  const [code, errno, errcode, originalCode, sqlState] = codeMembers.map((member) =>
    propertyOf(error, member),
  );
  const keys = [
    typeof sqlState === 'string' && typeof errno === 'number' && `MySQL ${errno}`,
    typeof errcode === 'number' && `SQLite ${errcode}`,
    typeof errcode === 'number' && `SQLite ${errcode & 0xff}`,
    typeof code === 'number' && `${classOf(error)} ${code}`,
    errno,
    originalCode,
    code,
  ];
  return shownCodes.get(keys.find((key) => shownCodes!.has(key)));
}

const codeMembers = ['code', 'errno', 'errcode', 'originalCode', 'sqlState'];
