import { describe, expect, it } from 'vitest';
import { BRIDGE_ROWS, CONFIG_ROWS, ERROR_ROWS } from './coming-from-daemon.js';
import {
  type Attempt,
  NAME_ROWS,
  openRuntime,
  REGISTRY_ROWS,
  RUNTIME_ROWS,
  STATUS_ROWS,
} from './coming-from-library.js';
import { REQUEST_ROWS } from './coming-from-steward.js';
import { readText, rowsOf } from './repository.js';

const PAGE = readText('docs/coming-from.md');
const ATTEMPTS: Readonly<Record<string, Readonly<Record<string, Attempt>>>> = {
  'An object with one client for each server': RUNTIME_ROWS,
  'A registry of tools': REGISTRY_ROWS,
  'Names of tools and capabilities': NAME_ROWS,
  Statuses: STATUS_ROWS,
  Errors: ERROR_ROWS,
  'An HTTP bridge': BRIDGE_ROWS,
  Configuration: CONFIG_ROWS,
  'Requests and energy': REQUEST_ROWS,
};

/** Spellings with tests of their own, beside what they are about. */
const TRIED_ELSEWHERE: ReadonlySet<string> = new Set([
  '`connect(name, config)`',
  '`ConnectMCPServer(config)`',
  '`disconnectAll()`',
  '`addServer(config)`',
  '`removeServer(serverId)`',
  '`getConnectedServers()`',
  '`transport: "stdio"`, `"http"`, `"websocket"`',
  '`auth.type: "api_key"`, `"token_file"`',
]);

const sections = PAGE.split(/^## /m).slice(1);
const tables = sections.flatMap((text) => {
  const [title = ''] = text.split('\n');
  const rows = rowsOf(text, ['there', 'here', 'note']);
  return rows.length === 0 ? [] : [{ title, rows }];
});

it('every table of docs/coming-from.md is tried, and nothing else is', () => {
  expect(tables.map(({ title }) => title)).toEqual(Object.keys(ATTEMPTS));
  for (const { title, rows } of tables) {
    const tried = rows.flatMap(([there = '', here = '']) =>
      TRIED_ELSEWHERE.has(there) || here === '_not here_' ? [] : [there],
    );
    expect(tried).toEqual(Object.keys(ATTEMPTS[title] ?? {}));
  }
});

describe.each(Object.entries(ATTEMPTS))('%s', (_, rows) => {
  it.each(Object.entries(rows))('%s', { timeout: 60_000 }, (_there, attempt) => attempt());
});

it('what the page says is not here is not here', async () => {
  const runtime = await openRuntime({ resourceTools: true });
  const text = sections.find((section) => section.startsWith('Not here')) ?? '';
  const named = [...text.matchAll(/`(\w+)/g)].map(([, name = '']) => name);
  expect(named).toContain('resolve_endpoint');
  for (const name of named) {
    expect(runtime).not.toHaveProperty(name);
    expect(runtime.catalog.get(name)).toBeUndefined();
  }
});
