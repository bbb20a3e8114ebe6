/** The published PostgreSQL server with a database of its own: it reads, refuses to write, and outlives a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { waitUntil } from '@turnbuckle/testing';
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type PostgresDatabase, SKIPPED, USER } from './postgres-database.js';
import { serverScript } from './published-servers.mjs';

const PASSWORD = 'never-shown-4711';

describe.skipIf(SKIPPED !== '')(`server-postgres with a database${SKIPPED}`, () => {
  let directory: string;
  let database: PostgresDatabase;
  let runtime: Runtime;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-real-'));
    database = await createDatabase();
    await database.start();
    await database.execute(
      "CREATE TABLE books (id integer PRIMARY KEY, title text); INSERT INTO books VALUES (1, 'Emma'), (2, 'Ulysses')",
    );
    const host = encodeURIComponent(database.socketDirectory);
    const url = `postgresql://${USER}:${PASSWORD}@localhost/postgres?host=${host}`;
    const config = { command: process.execPath, args: [await serverScript('postgres'), url] };
    runtime = await createRuntime({
      servers: { postgres: { ...config, connectTimeoutMs: 60_000 } },
      stateDir: path.join(directory, 'state'),
    });
    await runtime.connectAll();
  });
  afterAll(async () => {
    await runtime?.close();
    await database?.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const query = async (sql: string): Promise<unknown> => {
    const result = await runtime.call({ server: 'postgres', tool: 'query', arguments: { sql } });
    const [first] = result.content;
    return first?.type === 'text' ? JSON.parse(first.text) : first;
  };
  const titles = () => query('SELECT title FROM books ORDER BY id');
  const BOTH = [{ title: 'Emma' }, { title: 'Ulysses' }];

  it('lists the tool, and a resource for each table', async () => {
    expect(runtime.tools().map(({ tool }) => tool)).toEqual(['query']);
    const resources = await runtime.listResources('postgres');
    expect(resources.map(({ name, uri }) => [name, new URL(uri).pathname])).toEqual([
      ['"books" database schema', '/books/schema'],
    ]);
  });

  it('does not show the password of the database', async () => {
    const shown = JSON.stringify([runtime.status(), await runtime.listResources('postgres')]);
    expect(shown).not.toContain(PASSWORD);
  });

  it('runs a query', async () => {
    expect(await titles()).toEqual(BOTH);
  });

  it('reads the schema of a table', async () => {
    const [table] = await runtime.listResources('postgres');
    const { contents } = await runtime.readResource('postgres', table?.uri ?? '');
    const [content] = contents;
    expect(JSON.parse(content !== undefined && 'text' in content ? String(content.text) : '')).toEqual([
      { column_name: 'id', data_type: 'integer' },
      { column_name: 'title', data_type: 'text' },
    ]);
  });

  it('passes on that the server refuses to write', async () => {
    await expect(query("INSERT INTO books VALUES (3, 'Dracula')")).rejects.toMatchObject({
      code: 'SERVER_ERROR',
      message: expect.stringContaining('read-only'),
    });
    expect(await titles()).toEqual(BOTH);
  });

  it('answers again after a restart of the database', async () => {
    await titles();
    await database.stop();
    await expect(titles()).rejects.toThrow();
    await database.start();
    await waitUntil(() =>
      titles().then(
        () => true,
        () => false,
      ),
    );
    expect(await titles()).toEqual(BOTH);
    expect(runtime.serverStatus('postgres').status).toBe('connected');
  });
});
