import { readFileSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { MODIFY_STEPS } from '../../src/work/modify.js';
import type { WorkServices } from '../../src/work/services.js';
import type { StepContext } from '../../src/workers/step.js';
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

describe('an approval', () => {
  it.each([
    { type: 'modify_server', params: { serverName: 'known', changes: { callTimeoutMs: 900 } } },
    { type: 'remove_server', params: { serverName: 'known' } },
  ])('of $type counts for the entry that was shown', async ({ type, params }) => {
    await open();
    const id = await stage.request(type, params);
    const approval = await stage.approval(id);
    change({ env: { MODE: 'other' } });
    const before = readFileSync(stage.configFile, 'utf8');
    await stage.answer(String(approval.id), 'yes');
    const status = await stage.until(id, 'failed', 'completed');
    expect(status).toMatchObject({ state: 'failed', error: { code: 'CONFIG_INVALID' } });
    expect(String((status.error as Json).message)).toContain('was changed in the config file after');
    expect(readFileSync(stage.configFile, 'utf8')).toBe(before);
  });

  it('still counts if only the order of keys has changed', async () => {
    await open({ callTimeoutMs: 100 });
    const id = await stage.request('modify_server', {
      serverName: 'known',
      changes: { callTimeoutMs: 900 },
    });
    const approval = await stage.approval(id);
    const turned = Object.fromEntries(Object.entries(entry()).reverse());
    stage.configure({ ...stage.config(), servers: { known: turned } });
    await stage.answer(String(approval.id), 'yes');
    expect(await stage.until(id, 'failed', 'completed')).toMatchObject({ state: 'completed' });
    expect(entry().callTimeoutMs).toBe(900);
  });
});

describe('the undo of a change', () => {
  const [, apply] = MODIFY_STEPS;
  const before = { ...fixture('echo'), callTimeoutMs: 100 };
  const after = { ...before, callTimeoutMs: 900, description: 'New' };

  /** As a worker calls it after it has written the change. */
  async function undo(): Promise<void> {
    const work = {
      configFile: stage.configFile,
      cwd: stage.home.path,
      files: [],
      stateDir: stage.home.file('state'),
    };
    const environment = { HOME: stage.home.path, XDG_CONFIG_HOME: stage.home.file('config') };
    await apply?.undo?.({
      request: { params: { serverName: 'known' } },
      data: { before, after },
      services: { work, environment },
    } as unknown as StepContext<WorkServices>);
  }

  it('takes back what the step wrote, once or twice', async () => {
    await open(after);
    await undo();
    expect(entry()).toEqual(before);
    await undo();
    expect(entry()).toEqual(before);
  });

  it('leaves what somebody else wrote meanwhile, and says so', async () => {
    await open({ ...after, callTimeoutMs: 5_000, connectTimeoutMs: 7_000 });
    await expect(undo()).rejects.toThrow('"callTimeoutMs" of server "known" was changed by someone else');
    expect(entry()).toEqual({ ...before, callTimeoutMs: 5_000, connectTimeoutMs: 7_000 });
  });
});
