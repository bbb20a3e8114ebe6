/** Runs the examples of the guide verbatim against a daemon. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const run = promisify(execFile);
const guide = readFileSync(new URL('../../../../docs/bridge.md', import.meta.url), 'utf8');
const example = (name: string): string =>
  new RegExp(`<!-- bridge: ${name} -->\\s+\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';

let own: OwnDaemon;
beforeAll(async () => {
  own = await ownDaemon({ servers: { demo: fixture('echo') } });
});
afterAll(() => own.close());

async function runExample(command: string, flag: string, text: string): Promise<string> {
  const env = { ...process.env, MCP_BRIDGE_URL: own.daemon.url, TURNBUCKLE_TOKEN: own.daemon.token };
  const { stdout } = await run(command, [flag, text], { env });
  return stdout.trim();
}

const isInstalled = async (command: string): Promise<boolean> =>
  run(command, ['--version']).then(
    () => true,
    () => false,
  );

it('calls with curl', async (context) => {
  if (!(await isInstalled('curl'))) context.skip();
  expect(JSON.parse(await runExample('sh', '-c', example('curl')))).toMatchObject({
    success: true,
    result: { content: [{ type: 'text', text: 'hello' }] },
  });
});

it('calls with Python', async (context) => {
  if (!(await isInstalled('python3'))) context.skip();
  expect(await runExample('python3', '-c', example('python'))).toBe('hello\nSERVER_UNKNOWN');
});
