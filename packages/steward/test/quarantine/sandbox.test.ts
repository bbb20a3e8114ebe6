/** What a server can reach while it is tested. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { fixture } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testServer } from '../../src/quarantine/test-server.js';
import { confined, ownDirectory, textsOf, tryServer, writeServer } from './stage.js';

/** An HTTP server on loopback that counts its visitors. */
async function startCanary(): Promise<{ readonly url: string; readonly visits: () => number }> {
  let visits = 0;
  const server = createServer((_, response) => {
    visits += 1;
    response.end('seen');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, visits: () => visits };
}

/** Tries all of it before it answers anything, and says in its only result what it got. */
const spy = (file: string, url: string, target: string): string => `
import { readFileSync, writeFileSync } from 'node:fs';
const got = [];
try { got.push(readFileSync(${JSON.stringify(file)}, 'utf8')); } catch (error) { got.push('no file ' + error.code); }
try { writeFileSync(${JSON.stringify(target)}, 'was here'); got.push('written'); } catch (error) { got.push('not written'); }
try { got.push(await (await fetch(${JSON.stringify(url)})).text()); } catch { got.push('no network'); }
`;

async function setUpSpy() {
  const canary = await startCanary();
  const directory = await ownDirectory();
  const file = directory.file('canary.txt');
  const target = directory.file('left-behind.txt');
  await writeFile(file, 'the canary sings');
  const entry = await writeServer({
    setUp: spy(file, canary.url, target),
    onCall: "return { isError: got.join(', ') };",
  });
  return { canary, entry, target };
}

// requirement E4
describe('a server in the sandbox', () => {
  confined('reads no file of the machine and reaches no network, not even loopback', async () => {
    const { canary, entry, target } = await setUpSpy();
    const report = await tryServer(entry, { sandbox: 'required' });
    expect(report.sandboxed).toBe(true);
    expect(textsOf(report, 'note')).toMatch(/no file ENOENT, not written, no network/);
    expect(canary.visits()).toBe(0);
    expect(existsSync(target)).toBe(false);
  });

  confined('reaches the network only if that is allowed', async () => {
    const { canary, entry } = await setUpSpy();
    const report = await tryServer(entry, { sandbox: 'required', allowNetwork: true });
    expect(textsOf(report, 'note')).toMatch(/no file ENOENT, not written, seen/);
    expect(canary.visits()).toBe(1);
  });

  confined('cannot write to its own directory', async () => {
    const entry = await writeServer({
      setUp: `import { writeFileSync } from 'node:fs';
let got = 'written';
try { writeFileSync(new URL('server.mjs', import.meta.url), ''); } catch (error) { got = error.code; }`,
      onCall: 'return { isError: got };',
    });
    expect(textsOf(await tryServer(entry), 'note')).toMatch(/EROFS/);
  });

  confined('reads no file that only its arguments name, if its own sandbox does not show it', async () => {
    const directory = await ownDirectory();
    const secret = directory.file('id_rsa');
    await writeFile(secret, 'the canary sings');
    const server = await writeServer({
      setUp: `import { existsSync, readFileSync } from 'node:fs';
const got = existsSync(process.argv[2]) ? readFileSync(process.argv[2], 'utf8') : 'nothing';`,
      onCall: 'return { isError: got };',
    });
    const place = dirname(server.args[0] ?? '');
    const entry = { ...server, args: [...server.args, secret] };
    const shown = { ...entry, sandbox: { preset: 'standard', read: [place] } };
    for (const report of [
      await tryServer(entry, { directory: place }),
      await tryServer(shown),
      await tryServer(shown, { directory: place }),
    ]) {
      expect(JSON.stringify(report)).not.toContain('canary');
      expect(report.verdict).toBe('fail');
      expect(textsOf(report, 'fail')).toContain('is not visible in the sandbox');
    }
    const listed = { ...entry, sandbox: { preset: 'standard', read: [place, secret] } };
    expect(textsOf(await tryServer(listed), 'note')).toContain('the canary sings');
  });

  confined('has an empty home and none of the variables of the host', async () => {
    process.env.STEWARD_CANARY = 'never seen';
    onTestFinished(() => void delete process.env.STEWARD_CANARY);
    const entry = await writeServer({
      setUp: "import { readdirSync } from 'node:fs';",
      onCall:
        'return { isError: Object.keys(process.env).sort().join(" ") + " " + readdirSync(process.env.HOME).length };',
    });
    const named = { ...entry, env: { GIVEN: 'a' }, inheritEnv: ['NAMED'] };
    const environment = { NAMED: 'b', OTHER: 'c', STEWARD_CANARY: 'd' };
    const report = await tryServer(named, { environment });
    expect(textsOf(report, 'note')).toMatch(/error: GIVEN HOME NAMED PATH PWD TURNBUCKLE_TAG 0$/);
  });
});

describe('where there is no sandbox', () => {
  it('the report says so', async () => {
    const empty = await ownDirectory();
    const report = await tryServer(fixture('echo'), { path: empty.path });
    expect(report).toMatchObject({ sandboxed: false, verdict: 'warn' });
    expect(report.note).toMatch(/^The server ran without a sandbox, because .* is not installed\.$/);
    expect(textsOf(report, 'warn')).toMatch(/sandbox: The server ran without a sandbox/);
  });

  it('nothing is started if one is required', async () => {
    const empty = await ownDirectory();
    const entry = fixture('stubborn', '--pid-file', empty.file('pids'));
    const testing = testServer({
      name: 'tested',
      entry,
      stateDir: empty.path,
      sandbox: 'required',
      path: empty.path,
    });
    await expect(testing).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      hint: expect.stringMatching(/Install/),
    });
    expect(existsSync(empty.file('pids'))).toBe(false);
  });
});
