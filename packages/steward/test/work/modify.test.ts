import { readFileSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

let stage: StewardStage;
afterEach(() => stage.close());

const open = async (entry: Json = {}): Promise<void> => {
  stage = await openStewardStage({ config: { servers: { known: { ...fixture('echo'), ...entry } } } });
};

const send = (changes: Json) =>
  stage.api('POST', '/api/steward/requests', {
    type: 'modify_server',
    params: { serverName: 'known', changes },
  });

const entry = (): Json => (stage.config().servers as Record<string, Json>).known ?? {};
const change = (more: Json): void =>
  stage.configure({ ...stage.config(), servers: { known: { ...entry(), ...more } } });

// requirement E3, E4
describe('a change of a server', () => {
  it.each([
    [{ callTimeoutMs: 'soon' }, 'servers.known.callTimeoutMs'],
    [{ commnad: 'node' }, 'servers.known.commnad'],
    [{ command: null }, 'neither "command"'],
    [{ env: { A: '${secret:' } }, 'invalid placeholder'],
  ])('after which it would be invalid is refused at once: %j', async (changes, text) => {
    await open();
    const before = readFileSync(stage.configFile, 'utf8');
    const { status, body } = await send(changes);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'ARGUMENTS_INVALID' });
    expect(String(body.message ?? body.error)).toContain(text);
    expect((await stage.api('GET', '/api/steward/requests')).body.requests).toEqual([]);
    expect(readFileSync(stage.configFile, 'utf8')).toBe(before);
  });

  it('that became invalid while it waited is not written', async () => {
    await open({ credentials: undefined });
    const { body } = await send({ share: 'shared' });
    const id = String(body.requestId);
    const approval = await stage.approval(id);
    change({ credentials: { ada: { env: { A: 'b' } } } });
    const before = readFileSync(stage.configFile, 'utf8');
    await stage.answer(String(approval.id), 'yes');
    expect(await stage.until(id, 'failed', 'completed')).toMatchObject({ state: 'failed' });
    expect(readFileSync(stage.configFile, 'utf8')).toBe(before);
  });

  it('of only a hidden value is asked for, too', async () => {
    await open({ env: { API_KEY: 'first-4711' } });
    const { body } = await send({ env: { API_KEY: 'second-4711' } });
    const { subject } = await stage.approval(String(body.requestId));
    expect((subject as Json).details).toEqual(['~ env.API_KEY: changed (hidden)']);
  });
});
