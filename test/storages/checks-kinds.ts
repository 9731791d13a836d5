import type { TableKinds } from './checks.js';
import { columns } from './checks-columns.js';
import { keys } from './checks-keys.js';
import { rules } from './checks-rules.js';
import { sessions } from './checks-sessions.js';
import { tools } from './checks-tools.js';
import { triggers } from './checks-triggers.js';
import { views } from './checks-views.js';

/** By their titles. */
export const rooms: readonly TableKinds[] = [keys, columns, rules, triggers, views, sessions, tools];

export const kinds: TableKinds = Object.assign({}, ...rooms);
