// The table of adapters/OPERATING.md, by alert, and the commands that its rows lead to.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorOf } from './pages.js';
import { root } from './root.js';

/** Whoever can end an incident. */
export type Party = 'database' | 'network' | 'issuer' | 'app' | 'developers' | 'platform';

/** How the page names them. */
export const parties: Readonly<Record<Party, RegExp>> = {
  database: /database/,
  network: /network/,
  issuer: /issuer/,
  app: /\bapp\b|developers/,
  developers: /developers|timeouts/,
  platform: /platform/,
};

/** A command, and on which database it is pasted. */
interface Command {
  readonly on: string;
  readonly text: string;
  readonly isRun: boolean;
}

export interface Row {
  readonly alerts: readonly string[];
  readonly anchors: readonly string[];
  /** The codes of its line, if it has one. */
  readonly codes: readonly string[];
  /** One of these is in the line; there are none if each line will do. */
  readonly texts: readonly string[];
  readonly cause: string;
  /** Who fixes it. */
  readonly whose: string;
  readonly commands: readonly Command[];
  readonly end: string;
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);

export const page = readFileSync(join(root, 'adapters/OPERATING.md'), 'utf8');

/** The commands of a heading below "Commands": each has its database in the line above it. */
function commandsBelow(anchor: string): readonly Command[] {
  const [, sections = ''] = /\n## Commands\n([\s\S]*?)\n## /.exec(page) ?? [];
  const section = sections.split('\n### ').find((each) => anchorOf(each.split('\n', 1)[0]!) === anchor);
  if (!section) throw new Error(`no commands are below #${anchor}`);
  const blocks = section.matchAll(/(?:\n([^\n`]+?)(, \*not run\*)?:\n)?\n```\w+\n([\s\S]*?)\n```/g);
  return Array.from(blocks, ([, on = '', mark, text]) => ({ on, text: text!, isRun: !mark }));
}

/** A command itself, or a link to commands; before a colon, the only database of the row. */
function commandsOf(entry: string): readonly Command[] {
  const [, on = '', text, anchor] = /^(?:([\w ]+): )?(?:`(.+)`|\[.+\]\(#(.+)\))$/.exec(entry) ?? [];
  if (text) return [{ on, text, isRun: true }];
  if (!anchor) throw new Error(`neither a command nor a link: ${entry}`);
  const found = commandsBelow(anchor).filter((each) => !on || each.on === on);
  if (found.length === 0) throw new Error(`no command is behind ${entry}`);
  return found;
}

function rowOfCells([alert = '', line = '', cause = '', whose = '', command = '', end = '']: string[]): Row {
  return {
    alerts: all(alert, /`(PlantStore\w+)`/g),
    anchors: all(alert, /<a id="(\w+)"><\/a>/g),
    codes: all(line.replace(/`[^`]+`/g, ''), /(5\d{4})/g),
    texts: all(line, /`([^`]+)`/g),
    cause,
    whose,
    commands: command === '' ? [] : command.split('; ').flatMap(commandsOf),
    end,
  };
}

/** What is above the table. */
export const [, intro = '', table = ''] = /\n## By alert\n\n([\s\S]*?)\n\n(\|[\s\S]*?)\n\n/.exec(page) ?? [];

export const rows: readonly Row[] = table
  .split('\n')
  .slice(2)
  .map((line) => rowOfCells(line.slice(2, -2).split(' | ')));

/** Finds the row of an alert as somebody on call does: the first one that has the alert, and what the line has. */
export function rowOf(alert: string, line = ''): Row | undefined {
  const code = /\b5\d{4}\b/.exec(line)?.[0];
  return rows.find(
    ({ alerts, codes, texts }) =>
      alerts.includes(alert) &&
      // A line of state has no code.
      (codes.length === 0 || (line !== '' && (!code || codes.includes(code)))) &&
      (texts.length === 0 || texts.some((text) => line.includes(text))),
  );
}
