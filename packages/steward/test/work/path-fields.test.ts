/** A server that works on a file: it can create and replace it in its sandbox, and a path that cannot work is refused. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect } from 'vitest';
import { scriptedPackage, scriptedRecord } from '../daemon/hostile-servers.js';
import { type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';
import { confined } from '../quarantine/stage.js';

/** Replaces its file as a whole, as careful programs do. */
const REPLACE = `if (method === 'tools/call') {
  const { writeFileSync, renameSync } = require('node:fs');
  writeFileSync(process.env.NOTES_FILE + '.new', 'replaced');
  renameSync(process.env.NOTES_FILE + '.new', process.env.NOTES_FILE);
}`;

let stage: StewardStage;
afterEach(() => stage.close());

async function ask(): Promise<{ id: string; approval: string; details: string }> {
  stage = await openStewardStage({
    packages: [
      scriptedPackage('notes', {
        onRequest: REPLACE,
        tools: [{ name: 'note', text: 'Notes.' }],
        isAnnotated: false,
      }),
    ],
    records: [scriptedRecord('notes', { environmentVariables: [{ name: 'NOTES_FILE', isRequired: true }] })],
  });
  const id = await stage.request('add_server', { registryName: 'io.github.acme/notes' });
  const { id: approval, subject } = await stage.approval(id);
  return { id, approval: String(approval), details: (subject as { details: string[] }).details.join('\n') };
}

// requirement E3, E4, C11
describe('a field that is the path of a file', () => {
  confined('lets the server create and replace the file, wherever the home directory is', async () => {
    const { id, approval, details } = await ask();
    expect(details).toContain('of a file, all of its directory (NOTES_FILE)');
    const directory = stage.home.file('notes');
    mkdirSync(directory);
    expect((await stage.answer(approval, 'yes', { NOTES_FILE: '~/notes/all.json' })).status).toBe(200);
    expect(await stage.approveAll(id)).toMatchObject({ state: 'completed' });
    const { env, sandbox } = (stage.config().servers as Record<string, Json>).notes ?? {};
    expect(env).toEqual({ NOTES_FILE: stage.home.file('notes/all.json') });
    expect(sandbox).toMatchObject({ write: [directory] });
    const call = { server: 'notes', tool_name: 'note', arguments: {} };
    await stage.configure({ ...stage.config(), rules: [{ tool: 'notes/*', action: 'allow' }] });
    await expect
      .poll(async () => (await stage.api('POST', '/mcp/call', call)).status, { timeout: 10_000 })
      .toBe(200);
    expect(readFileSync(stage.home.file('notes/all.json'), 'utf8')).toBe('replaced');
  });

  confined('is refused when it is answered, and can be answered again', async () => {
    const { approval } = await ask();
    writeFileSync(stage.home.file('in-home.json'), '');
    const faults = [
      ['/nonexistent/place/all.json', 'mkdir -p /nonexistent/place'],
      [stage.home.file('missing'), 'does not exist'],
      ['~/in-home.json', 'is your home directory'],
      ['~', 'is your home directory'],
      ['/', 'is the whole file system'],
      ['/proc/self/mem', 'belongs to the system'],
      [stage.home.file('state/vault.json'), 'has files of Turnbuckle itself'],
      ['/var/tmp/all.json', 'is shared by all programs'],
    ] as const;
    for (const [path, text] of faults) {
      const { status, body } = await stage.answer(approval, 'yes', { NOTES_FILE: path });
      expect({ path, status, code: body.code }).toEqual({ path, status: 422, code: 'ARGUMENTS_INVALID' });
      expect(JSON.stringify(body)).toContain(text);
    }
    mkdirSync(stage.home.file('notes'));
    expect((await stage.answer(approval, 'yes', { NOTES_FILE: '~/notes' })).status).toBe(200);
  });
});
