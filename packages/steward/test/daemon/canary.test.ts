/** A secret that is given with an approval is in the vault, encrypted, and nowhere else. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { filesPackage, filesRecord, type Json, openStewardStage } from './stage.js';

const CANARY = 'canary-91f6e0c27ab45d';
/** As it is, in base64, and in addresses. */
const FORMS = [CANARY, CANARY.slice(0, 15), Buffer.from(CANARY).toString('base64').slice(0, -4)];
const holds = (text: string): boolean => FORMS.some((form) => text.includes(form));

/** Repeats what it was given wherever it can: in errors, on stderr, in its description. */
const LEAKING = filesPackage().files?.['bin/server.js']?.replace(
  'const tools = [',
  "console.error('key', process.env.FILES_KEY);\nconst tools = [",
);

// requirement E4
it('no file, answer or event of the steward holds a secret', async () => {
  const record = filesRecord({
    environmentVariables: [{ name: 'FILES_KEY', isSecret: true, isRequired: true, description: 'The key' }],
  });
  const stage = await openStewardStage({
    records: [record],
    packages: [filesPackage({ files: { 'bin/server.js': LEAKING ?? '' } })],
  });
  const texts: string[] = [];
  const events = new AbortController();
  try {
    const stream = await fetch(`${stage.daemon.url}/api/events`, {
      headers: { authorization: `Bearer ${stage.daemon.token}` },
      signal: events.signal,
    });
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const part of stream.body ?? []) texts.push(decoder.decode(part as Uint8Array));
    })().catch(() => undefined);
    const id = await stage.request('add_server', { purpose: 'files' });
    await stage.approval(id);
    expect(await stage.approveAll(id, { FILES_KEY: CANARY })).toMatchObject({ state: 'completed' });
    const call = { server: 'files', tool_name: 'whoami', arguments: {} };
    await waitUntil(async () => (await stage.api('POST', '/mcp/call', call)).status === 200);
    const test = await stage.request('test_server', { serverName: 'files' });
    texts.push(JSON.stringify(await stage.until(test, 'completed', 'failed')));
    const changes = { description: 'changed' };
    const modify = await stage.request('modify_server', { serverName: 'files', changes });
    texts.push(JSON.stringify(await stage.approval(modify)));
    await stage.approveAll(modify);
    const paths = [
      'steward',
      'steward/requests',
      'steward/approvals',
      'incidents',
      'servers',
      'calls',
      'pins',
    ];
    for (const path of [...paths.map((one) => `/api/${one}`), `/api/steward/requests/${id}`]) {
      const { status, body } = await stage.api('GET', path);
      expect([path, status]).toEqual([path, 200]);
      texts.push(JSON.stringify(body));
    }
    texts.push(await (await fetch(`${stage.daemon.url}/metrics`, { headers: authorization(stage) })).text());
    await stage.restart();
    events.abort();
    await reading;
    expect(texts.join('')).toContain('steward.message');
    expect(texts.filter(holds)).toEqual([]);
    const files = readdirSync(stage.home.path, { recursive: true, encoding: 'utf8' })
      .map((path) => stage.home.file(path))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
    expect(files.some((file) => file.endsWith('work.db'))).toBe(true);
    expect(files.some((file) => file.includes('vault'))).toBe(true);
    expect(files.filter((file) => holds(readFileSync(file, 'latin1')))).toEqual([]);
    expect((stage.config().servers as Record<string, Json>).files).toMatchObject({
      env: { FILES_KEY: expect.stringContaining('${secret:') },
    });
  } finally {
    events.abort();
    await stage.close();
  }
});

const authorization = ({ daemon }: { daemon: { token?: string | undefined } }) => ({
  authorization: `Bearer ${daemon.token}`,
});
