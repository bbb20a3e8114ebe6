/** A test starts a server with its real secrets: only if the user lets the server start at all. */
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

let stage: StewardStage;
afterEach(() => stage.close());

async function tested(entry: Json, config: Json = {}): Promise<Json> {
  stage = await openStewardStage();
  const script = `require('node:fs').writeFileSync(${JSON.stringify(stage.home.file('started'))}, '')`;
  const known = { command: process.execPath, args: ['-e', script], ...entry };
  stage.configure({ ...stage.config(), servers: { known }, ...config });
  const id = await stage.request('test_server', { serverName: 'known' });
  return stage.until(id, 'failed', 'completed');
}

// requirement E3, E4
describe('a test of a configured server', () => {
  it('does not start one that is disabled', async () => {
    const status = await tested({ enabled: false });
    expect(status).toMatchObject({ state: 'failed', error: { code: 'SERVER_DISABLED' } });
    expect(existsSync(stage.home.file('started'))).toBe(false);
  });

  it.each([
    [{ action: 'deny', server: 'kno*' }],
    [{ action: 'deny', server: ['other', 'known'], tool: '*', reason: 'not here' }],
    [{ action: 'deny' }],
  ])('does not start one that a rule denies as a whole: %j', async (rule) => {
    const status = await tested({ start: 'lazy' }, { rules: [rule] });
    expect(status).toMatchObject({ state: 'failed', error: { code: 'CALL_DENIED' } });
    expect(existsSync(stage.home.file('started'))).toBe(false);
  });

  it.each([
    [[{ action: 'deny', server: 'known', tool: 'delete_*' }]],
    [[{ action: 'deny', server: 'other' }]],
    [[{ action: 'allow', server: 'known', tool: 'read' }, { action: 'deny' }]],
  ])('starts one that may be used in part: %j', async (rules) => {
    const status = await tested({}, { rules });
    expect(status).toMatchObject({ state: 'completed', result: { report: { verdict: 'fail' } } });
  });
});
