/** With many servers, commands and the daemon print no warnings. */
import { startFixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { type RunningDaemon, startDaemon } from './running-daemon.js';

const SERVERS = 40;
const COMMANDS = ['list', 'tools', 'resources', 'prompts', 'doctor', 'call s0 echo text=hi', 'ping s1'];

let home: Home;
let daemon: RunningDaemon;
let closeFixture: () => Promise<unknown>;
beforeAll(async () => {
  const { url, stop } = await startFixture('echo', { transport: 'http' });
  closeFixture = stop;
  const names = Array.from({ length: SERVERS }, (_, index) => `s${index}`);
  home = await createHome(Object.fromEntries(names.map((name) => [name, { url, start: 'lazy' }])));
  daemon = await startDaemon([], { home });
});
afterAll(async () => {
  const { stderr } = await daemon.stop();
  await closeFixture();
  expect(stderr).not.toContain('Warning');
});

describe.each([
  ['through a daemon', []],
  ['without one', ['--no-daemon']],
])(`${SERVERS} servers, %s`, (_how, words) => {
  it.each(COMMANDS)('turnbuckle %s prints no warning', async (line) => {
    const { code, stderr } = await turnbuckle([...line.split(' '), ...words], { home });
    expect({ code, stderr: stderr.replace(/^(Connecting|Calling).* …\n/gm, '') }).toEqual({
      code: 0,
      stderr: '',
    });
  });
});
