import { temporaryDirectory } from '@turnbuckle/testing';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Caller,
  createRuntime,
  type Runtime,
  type RuntimeOptions,
} from 'turnbuckle';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { TurnbuckleError } from '../../src/errors.js';
import { Flows } from '../../src/policy/flows.js';
import { labelsOf } from '../../src/policy/labels.js';
import { createSetting } from '../config/setting.js';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

const agent = (run?: string, id = 'agent'): Caller => ({ id, capabilities: ['mcp_integration'], run });
const ALLOW_ALL = [{ action: 'allow' as const }];
const CROSSED =
  'this run has read private data (files.read) and untrusted text (web.fetch), so the call could leak the data or cause damage';

/** Private files, untrusted web pages, and outbound mail. */
async function open(options: RuntimeOptions = {}) {
  const asked: ApprovalRequest[] = [];
  const answers: (ApprovalAnswer | Promise<ApprovalAnswer>)[] = [];
  const server = (...names: string[]) => new TinyServer(names.map((name) => toolNamed(name)));
  const files = new TinyServer([
    toolNamed('read'),
    toolNamed('wipe', { annotations: { destructiveHint: true } }),
  ]);
  const web = new TinyServer([
    toolNamed('fetch', { annotations: { openWorldHint: true } }),
    toolNamed('about'),
  ]);
  const mail = server('send', 'draft');
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    servers: {
      files: files.config({ labels: { read: ['private'] } }),
      web: web.config(),
      mail: mail.config({ labels: { 'se*': ['outbound'] } }),
    },
    rules: ALLOW_ALL,
    approve: (request) => {
      asked.push(request);
      return answers.shift() ?? 'deny';
    },
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const call = (what: string, caller: Caller | undefined = agent()) => {
    const [name = '', tool = ''] = what.split('.');
    return runtime.callTool(name, tool, {}, { caller });
  };
  return { runtime, asked, answers, call, mail };
}

const denied = { code: 'CALL_DENIED' };

describe('a run that read private data and untrusted text', () => {
  it('needs approval before anything goes out, even if a rule allows it', async () => {
    const { call, asked, answers, mail } = await open();
    await call('files.read');
    await call('mail.send');
    await call('web.about');
    expect(asked).toEqual([]);
    answers.push('once');
    await call('web.fetch');
    expect(asked.map(({ reason }) => reason)).toEqual([
      'this run has read private data (files.read) and untrusted text (this call), so the call could leak the data or cause damage',
    ]);
    await call('mail.draft');
    await expect(call('mail.send')).rejects.toMatchObject(denied);
    expect(asked[1]).toMatchObject({ reason: CROSSED, answers: ['once', 'session', 'deny'] });
    expect(mail.calls).toEqual(['send', 'draft']);
  });

  it('needs approval, in whatever order it read them', async () => {
    const { call, asked } = await open();
    await call('web.fetch');
    await call('files.read');
    await expect(call('mail.send')).rejects.toMatchObject(denied);
    await expect(call('files.wipe')).rejects.toMatchObject(denied);
    expect(asked.map(({ tool, reason }) => [tool, reason])).toEqual([
      ['send', CROSSED],
      ['wipe', CROSSED],
    ]);
  });

  it('belongs to one caller and one session', async () => {
    const { call, asked } = await open();
    await call('web.fetch', agent('one'));
    await call('files.read', agent('two'));
    await call('files.read', agent('one', 'other'));
    await call('files.read', agent());
    for (const who of [agent('one'), agent('two'), agent('one', 'other'), agent(), agent('["one"]')])
      await call('mail.send', who);
    expect(asked).toEqual([]);
    await call('files.read', agent('one'));
    await expect(call('mail.send', agent('one'))).rejects.toMatchObject(denied);
    await call('mail.send', agent('two'));
  });

  it('is never a run of the host', async () => {
    const { runtime, asked } = await open();
    for (const [server, tool] of [
      ['web', 'fetch'],
      ['files', 'read'],
      ['mail', 'send'],
    ] as const)
      await runtime.callTool(server, tool);
    expect(asked).toEqual([]);
  });

  it('may continue for the session if that was the answer, only in this run', async () => {
    const { call, asked, answers } = await open();
    for (const run of ['one', 'two']) {
      await call('web.fetch', agent(run));
      await call('files.read', agent(run));
    }
    answers.push('always');
    await call('mail.send', agent('one'));
    await call('mail.send', agent('one'));
    expect(asked).toHaveLength(1);
    await expect(call('mail.send', agent('two'))).rejects.toMatchObject(denied);
    await expect(call('files.wipe', agent('one'))).rejects.toMatchObject(denied);
  });

  it('needs approval even if the tool was approved for the session before', async () => {
    const { call, asked, answers } = await open({ rules: [{ action: 'ask', tool: 'send' }, ...ALLOW_ALL] });
    answers.push('session');
    await call('mail.send');
    await call('mail.send');
    expect(asked).toHaveLength(1);
    await call('web.fetch');
    await call('files.read');
    await expect(call('mail.send')).rejects.toMatchObject(denied);
    expect(asked[1]?.reason).toBe(`${CROSSED}; a rule requires approval`);
  });

  it('is recognized even if it read them while an approval was pending', async () => {
    const { call, asked, answers, mail } = await open({
      rules: [{ action: 'ask', tool: 'send' }, ...ALLOW_ALL],
    });
    let agree: (answer: ApprovalAnswer) => void = () => {};
    answers.push(new Promise((resolve) => (agree = resolve)));
    const sending = call('mail.send');
    await call('web.fetch');
    await call('files.read');
    agree('once');
    await expect(sending).rejects.toMatchObject(denied);
    expect(asked.map(({ reason }) => reason)).toEqual([
      'a rule requires approval',
      `${CROSSED}; a rule requires approval`,
    ]);
    expect(mail.calls).toEqual([]);
  });

  it('is recognized by a call whose pin was renewed in another runtime', async () => {
    const own = await temporaryDirectory();
    onTestFinished(() => own.remove());
    const makeTwin = (): TinyServer => new TinyServer([toolNamed('read'), toolNamed('send')]);
    const twins = [makeTwin(), makeTwin()] as const;
    const labels = { read: ['private', 'untrusted'], send: ['outbound'] };
    const options = (server: TinyServer): RuntimeOptions => ({
      stateDir: own.path,
      pins: 'approved',
      servers: { files: server.config({ labels }) },
    });
    const [here, elsewhere] = [await open(options(twins[0])), await open(options(twins[1]))];
    await here.runtime.pins.pin('files', 'read');
    for (const twin of twins) twin.tools = [toolNamed('read', { description: 'Other' }), toolNamed('send')];
    await Promise.all([here.runtime.refresh('files'), elsewhere.runtime.refresh('files')]);
    await elsewhere.runtime.pins.pin('files', 'read');
    await here.call('files.read');
    expect(here.asked).toEqual([]);
    await expect(here.call('files.send')).rejects.toMatchObject(denied);
  });

  it('does not count denied calls', async () => {
    const { call, asked } = await open({
      rules: [{ action: 'deny', tool: 'read' }, { action: 'ask', tool: 'fetch' }, ...ALLOW_ALL],
    });
    await expect(call('files.read')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    await expect(call('web.fetch')).rejects.toMatchObject(denied);
    await call('mail.send');
    expect(asked).toHaveLength(1);
  });

  it('is denied or allowed according to the setting', async () => {
    const strict = await open({ flows: 'deny' });
    await strict.call('web.fetch');
    await strict.call('files.read');
    await expect(strict.call('mail.send')).rejects.toMatchObject({
      code: 'CALL_DENIED',
      message: `Call to "mcp__mail__send" denied: ${CROSSED}.`,
    });
    expect(strict.asked).toEqual([]);
    const off = await open({ flows: 'off' });
    for (const what of ['web.fetch', 'files.read', 'mail.send']) await off.call(what);
    expect(off.asked).toEqual([]);
  });

  it('can be queried without a call', async () => {
    const { call, runtime } = await open();
    const request = { server: 'mail', tool: 'send', caller: agent() };
    expect(runtime.decide(request)).toMatchObject({ action: 'allow' });
    await call('web.fetch');
    await call('files.read');
    expect(runtime.decide(request)).toMatchObject({
      action: 'ask',
      flow: true,
      otherwise: 'allow',
      rule: { index: 0 },
    });
    expect(runtime.explain(request)).toMatchObject({ decision: { reason: CROSSED }, labels: ['outbound'] });
  });

  it('counts resources that it reads too', async () => {
    const { runtime, call } = await open({
      servers: {
        files: new TinyServer([]).config({ labels: ['private'] }),
        mail: new TinyServer([toolNamed('send')]).config({ labels: ['untrusted', 'outbound'] }),
      },
    });
    await call('mail.send');
    await runtime.readResource('files', 'doc://a', { caller: agent() });
    await expect(call('mail.send')).rejects.toMatchObject(denied);
  });
});

describe('labels', () => {
  const hints = { openWorldHint: true, destructiveHint: true };
  it.each([
    [undefined, undefined, []],
    [undefined, {}, []],
    [undefined, { openWorldHint: false, destructiveHint: false }, []],
    [undefined, { openWorldHint: true }, ['untrusted', 'outbound']],
    [undefined, { destructiveHint: true }, ['destructive']],
    [undefined, hints, ['untrusted', 'outbound', 'destructive']],
    [undefined, 'unknown', []],
    [['private'], hints, ['private']],
    [[], hints, []],
    [{ 're*': ['private'], '*d': ['untrusted', 'private'] }, hints, ['private', 'untrusted']],
    [{ write: ['private'] }, { destructiveHint: true }, ['destructive']],
    [{ read: [] }, hints, []],
  ] as const)('%j and %j are %j', (labels, claims, expected) => {
    const config = { labels: structuredClone(labels) as never, scope: 'user' as const };
    expect(labelsOf(config, { tool: 'read', kind: 'tool', hints: claims })).toEqual(expected);
  });

  it.each(['project', 'local'] as const)(
    'of a %s’s file add to the labels of the tool, and never remove any',
    (scope) => {
      const of = (labels: 'private'[]) => labelsOf({ labels, scope }, { tool: 'read', kind: 'tool', hints });
      expect(of([])).toEqual(['untrusted', 'outbound', 'destructive']);
      expect(of(['private'])).toEqual(['private', 'untrusted', 'outbound', 'destructive']);
    },
  );
});

describe('the record of runs', () => {
  const flows = new Flows('ask', ({ tool }) => (tool === 'in' ? ['private', 'untrusted'] : ['outbound']));
  const subject = (tool: string) => ({ server: 's', tool, kind: 'tool' as const, hints: undefined });
  const isCrossing = (run: string) => flows.faultOf(agent(run), subject('out')) !== undefined;

  it('is limited, and the run that was idle for longest is removed first', () => {
    for (let index = 0; index < 10_000; index += 1) flows.record(agent(`run ${index}`), subject('in'));
    expect([isCrossing('run 0'), isCrossing('run 1')]).toEqual([true, true]);
    flows.record(agent('run 0'), subject('out'));
    flows.record(agent('one more'), subject('in'));
    expect(['run 0', 'run 1', 'run 2', 'one more'].map(isCrossing)).toEqual([true, false, true, true]);
  });

  it('shows untrusted names in one safe line', () => {
    flows.record(agent('odd'), subject('in'));
    const odd = new Flows('ask', () => ['private', 'untrusted', 'outbound']);
    odd.record(agent(), subject(`a\u202eb${'x'.repeat(500)}`));
    const reason = odd.faultOf(agent(), subject('out'))?.reason ?? '';
    expect(reason).toContain('s.a\\u{202e}bxx');
    expect(reason.length).toBeLessThan(300);
  });
});

describe('the setting for flows', () => {
  const modeOf = async (runtime: Runtime): Promise<string> => {
    for (const tool of ['fetch', 'read']) await runtime.callTool('all', tool, {}, { caller: agent() });
    return runtime.decide({ server: 'all', tool: 'send', caller: agent() }).action;
  };
  const all = () =>
    new TinyServer(['fetch', 'read', 'send'].map((name) => toolNamed(name))).config({
      labels: { fetch: ['untrusted'], read: ['private'], send: ['outbound'] },
    });

  it.each([
    [undefined, undefined, 'ask'],
    ['off', undefined, 'allow'],
    ['deny', undefined, 'deny'],
    ['off', 'ask', 'ask'],
    ['ask', 'deny', 'deny'],
    [undefined, 'deny', 'deny'],
    ['deny', 'ask', 'deny'],
  ])('of the user %s, of the project %s: %s', async (user, project, expected) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { toolApprovalRequired: false, ...(user && { flows: user }) });
    await setting.write(setting.projectFile, project === undefined ? {} : { flows: project });
    const { runtime, config } = await setting.open();
    expect(config().problems).toEqual([]);
    await runtime.setServers({ all: all() });
    expect(await modeOf(runtime)).toBe(expected);
  });

  it('cannot be turned off by a project', async () => {
    const setting = await createSetting();
    await setting.write(setting.projectFile, { flows: 'off' });
    const { settings, problems } = await setting.load();
    expect(settings.flows).toBeUndefined();
    expect(problems[0]).toBeInstanceOf(TurnbuckleError);
    expect(problems[0]?.message).toContain(`flows: expected "ask" or "deny" in a project file`);
  });

  it('applies after the next reload, and an option overrides it', async () => {
    const setting = await createSetting();
    const write = (content: object) =>
      setting.write(setting.userFile, { toolApprovalRequired: false, ...content });
    await write({ flows: 'deny' });
    const { runtime, reload } = await setting.open();
    const action = () => runtime.decide({ server: 'all', tool: 'send', caller: agent() }).action;
    await runtime.setServers({ all: all() });
    expect(await modeOf(runtime)).toBe('deny');
    for (const [content, expected] of [
      [{ flows: 'off' }, 'allow'],
      [{}, 'ask'],
    ] as const) {
      await write(content);
      await reload();
      await runtime.setServers({ all: all() });
      await runtime.connectAll();
      expect(action()).toBe(expected);
    }
    const strict = await setting.open({ flows: 'deny' });
    await strict.runtime.setServers({ all: all() });
    expect(await modeOf(strict.runtime)).toBe('deny');
  });

  it.each([
    ['private', 'expected a list of "untrusted", "private"'],
    [['secret'], 'expected a list of "untrusted", "private"'],
    [{ read: 'private' }, 'expected a list of "untrusted", "private"'],
  ])('invalid labels are rejected: %j', async (labels, text) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { one: { command: 'x', labels } } });
    expect((await setting.load()).servers.get('one')?.problem?.message).toContain(text);
  });
});
