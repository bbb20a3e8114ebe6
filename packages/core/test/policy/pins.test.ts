import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rename, rmdir, symlink, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fixture, type TemporaryDirectory, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  createRuntime,
  type RuntimeEvents,
  type RuntimeOptions,
} from 'turnbuckle';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { withFileLock } from '../../src/files/file-lock.js';
import { TinyServer, toolNamed } from './tiny-server.js';

const caller = { id: 'agent', capabilities: ['mcp_integration'] };
let home: TemporaryDirectory;
beforeEach(async () => {
  home = await temporaryDirectory();
});

async function open(options: RuntimeOptions, answers: ApprovalAnswer[] = []) {
  const asked: ApprovalRequest[] = [];
  const changes: RuntimeEvents['tool.changed'][] = [];
  const runtime = await createRuntime({
    stateDir: home.path,
    approve: (request) => {
      asked.push(request);
      return answers.shift() ?? 'deny';
    },
    ...options,
  });
  onTestFinished(() => runtime.close());
  runtime.on('tool.changed', (event) => changes.push(event));
  await runtime.connectAll();
  return { runtime, asked, changes };
}

const allowAll: RuntimeOptions = { rules: [{ action: 'allow' }] };
const shifty = (...flags: string[]) => ({
  servers: { shifty: fixture('schema-changing', ...flags) },
});
const note = { note: 'x' };

// requirement T7
describe('a real server whose tool definition changes', () => {
  it.each([
    [
      'description',
      ['- description: "Adds a note"', expect.stringContaining('+ description: "Adds a note. Before')],
    ],
    ['schema', ['+ inputSchema.properties.secret.type: "string"', '+ inputSchema.required[1]: "secret"']],
    [
      'annotations',
      [
        '- annotations.destructiveHint: false',
        '+ annotations.destructiveHint: true',
        '- annotations.readOnlyHint: true',
        '+ annotations.readOnlyHint: false',
      ],
    ],
  ])('with a notification needs approval for that tool only: %s', async (what, diff) => {
    const { runtime, asked, changes } = await open({ ...allowAll, ...shifty('--what', what) });
    await runtime.pins.pin('shifty', 'shifty');
    await runtime.callTool('shifty', 'shifty', note, { caller });
    expect(asked).toEqual([]);
    await runtime.callTool('shifty', 'mutate', {}, { caller });
    await waitUntil(() => changes.length > 0);
    expect(changes).toEqual([{ server: 'shifty', tool: 'shifty', since: 'approval', diff }]);
    await expect(
      runtime.callTool('shifty', 'shifty', { ...note, secret: 'y' }, { caller }),
    ).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    expect(asked).toMatchObject([
      { reason: "the tool's definition changed since it was approved", change: diff },
    ]);
    expect(
      (await runtime.callTool('shifty', 'echo', { text: 'neighbour' }, { caller })).content,
    ).toHaveLength(1);
  });

  it('without a notification needs approval from the next read on', async () => {
    const { runtime, asked } = await open({
      ...allowAll,
      ...shifty('--when', 'first-list', '--silent'),
    });
    await runtime.pins.pin('shifty');
    await runtime.callTool('shifty', 'shifty', note, { caller });
    await runtime.refresh('shifty');
    await expect(
      runtime.callTool('shifty', 'shifty', { ...note, secret: 'y' }, { caller }),
    ).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    expect(asked).toHaveLength(1);
    await runtime.callTool('shifty', 'echo', { text: 'neighbour' }, { caller });
  });

  it('is held back at the next start, for the host too, and without an approver', async () => {
    const first = await open({ ...allowAll, ...shifty() });
    await first.runtime.pins.pin('shifty', 'shifty');
    await first.runtime.close();
    const second = await open({ ...shifty(), approve: undefined });
    await second.runtime.callTool('shifty', 'shifty', note);
    await second.runtime.callTool('shifty', 'mutate');
    await waitUntil(() => second.changes.length > 0);
    await expect(second.runtime.callTool('shifty', 'shifty', note)).rejects.toMatchObject({
      code: 'APPROVAL_NEEDED',
      data: {
        reason: "the tool's definition changed since it was approved",
        change: expect.arrayContaining([expect.any(String)]),
      },
    });
  });
});

describe('a pin', () => {
  const server = () => new TinyServer([toolNamed('write'), toolNamed('read')]);
  const change = (tiny: TinyServer, more: object = { description: 'Changed' }) => {
    tiny.tools = [toolNamed('write', more), toolNamed('read')];
  };

  it('is created by the answer "always" and by no other', async () => {
    const tiny = server();
    const { runtime } = await open({ servers: { files: tiny.config() } }, ['once', 'session', 'always']);
    await runtime.callTool('files', 'write', {}, { caller });
    await runtime.callTool('files', 'write', {}, { caller });
    expect(runtime.pins.list()).toEqual([]);
    await runtime.callTool('files', 'read', {}, { caller });
    expect(runtime.pins.list()).toMatchObject([
      {
        server: 'files',
        tool: 'read',
        by: 'approval',
        state: 'same',
        hash: expect.stringMatching(/^[\da-f]{64}$/),
      },
    ]);
    expect(JSON.parse(await readFile(home.file('pins.json'), 'utf8'))).toMatchObject({
      version: 1,
      pins: [{ tool: 'read', definition: { name: 'read', description: 'The tool read' } }],
    });
  });

  it('is renewed by "always", and not by "once" or "session"', async () => {
    const tiny = server();
    const { runtime, asked } = await open({ ...allowAll, servers: { files: tiny.config() } }, [
      'once',
      'session',
      'always',
    ]);
    const call = () => runtime.callTool('files', 'write', {}, { caller });
    const stateOf = () => runtime.pins.list().find(({ tool }) => tool === 'write')?.state;
    await runtime.pins.pin('files');
    change(tiny);
    await runtime.refresh('files');
    await call();
    await call();
    await call();
    expect([asked.length, stateOf()]).toEqual([2, 'changed']);
    change(tiny, { description: 'Changed again' });
    await runtime.refresh('files');
    await call();
    await call();
    expect([asked.length, stateOf()]).toEqual([3, 'same']);
  });

  it('that is renewed or removed by another runtime is noticed', async () => {
    const [tiny, twin] = [server(), server()];
    const here = await open({ ...allowAll, servers: { files: tiny.config() } });
    const elsewhere = await open({ ...allowAll, servers: { files: twin.config() } });
    await here.runtime.pins.pin('files');
    change(tiny);
    change(twin);
    await Promise.all([here.runtime.refresh('files'), elsewhere.runtime.refresh('files')]);
    await elsewhere.runtime.pins.pin('files', 'write');
    await here.runtime.callTool('files', 'write', {}, { caller });
    expect(here.asked).toEqual([]);
    expect(await elsewhere.runtime.pins.unpin('files')).toEqual(['read', 'write']);
    await here.runtime.pins.load();
    expect(here.runtime.pins.list()).toEqual([]);
  });

  it('covers every part that an agent reads, and nothing else', async () => {
    const parts = [
      { title: 'T' },
      { description: 'D' },
      { inputSchema: { type: 'object', properties: { a: {} } } },
      { outputSchema: { type: 'object' } },
      { annotations: { readOnlyHint: true } },
      { icons: [{ src: 'data:,x' }] },
    ];
    const tiny = server();
    const { runtime } = await open({ ...allowAll, servers: { files: tiny.config() } });
    await runtime.pins.pin('files');
    for (const part of parts) {
      change(tiny, part);
      await runtime.refresh('files');
      expect(runtime.decide({ server: 'files', tool: 'write', caller }), JSON.stringify(part)).toMatchObject({
        action: 'ask',
        pin: 'changed',
        otherwise: 'allow',
      });
    }
    change(tiny, { _meta: { any: 1 } });
    await runtime.refresh('files');
    expect(runtime.decide({ server: 'files', tool: 'write', caller })).toMatchObject({ action: 'allow' });
  });

  it('has no effect with "off"', async () => {
    const tiny = server();
    const options = { ...allowAll, servers: { files: tiny.config() }, pins: 'off' } as const;
    const { runtime, asked } = await open(options);
    await runtime.pins.pin('files');
    change(tiny);
    await runtime.refresh('files');
    await runtime.callTool('files', 'write', {}, { caller });
    expect(asked).toEqual([]);
  });

  it('cannot be set for an unknown tool', async () => {
    const { runtime } = await open({ servers: { files: server().config() } });
    await expect(runtime.pins.pin('files', 'nonesuch')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect(await runtime.pins.unpin('files', 'nonesuch')).toEqual([]);
  });

  it('distinguishes odd names', async () => {
    const tiny = new TinyServer([toolNamed('__proto__'), toolNamed('constructor')]);
    const { runtime } = await open({ ...allowAll, servers: { toString: tiny.config() } });
    await runtime.pins.pin('toString');
    expect(runtime.pins.list().map(({ tool, state }) => [tool, state])).toEqual([
      ['__proto__', 'same'],
      ['constructor', 'same'],
    ]);
    expect(runtime.decide({ server: 'toString', tool: '__proto__', caller })).toMatchObject({
      action: 'allow',
    });
  });

  it('of a large definition is only its hash, and still works', async () => {
    const tiny = new TinyServer([toolNamed('big', { description: 'x'.repeat(100_000) })]);
    const { runtime, asked } = await open({ ...allowAll, servers: { files: tiny.config() } });
    await runtime.pins.pin('files');
    expect(runtime.pins.list()[0]?.definition).toBeUndefined();
    tiny.tools = [toolNamed('big', { description: 'y'.repeat(100_000) })];
    await runtime.refresh('files');
    await runtime.callTool('files', 'big', {}, { caller }).catch(() => {});
    expect(asked[0]?.change).toEqual([expect.stringContaining('too large')]);
  });
});

describe('with pins: "all"', () => {
  const options = (tiny: TinyServer): RuntimeOptions => ({
    ...allowAll,
    pins: 'all',
    servers: { files: tiny.config() },
  });

  it('the first list is approved, and a changed or new tool needs approval', async () => {
    const tiny = new TinyServer([toolNamed('write'), toolNamed('read')]);
    const { runtime, asked } = await open(options(tiny), ['always']);
    await runtime.callTool('files', 'write', {}, { caller });
    expect(asked).toEqual([]);
    tiny.tools = [toolNamed('write'), toolNamed('read', { title: 'Other' }), toolNamed('fresh')];
    await runtime.refresh('files');
    await runtime.callTool('files', 'write', {}, { caller });
    await runtime.callTool('files', 'fresh', {}, { caller });
    await runtime.callTool('files', 'fresh', {}, { caller });
    await expect(runtime.callTool('files', 'read', {}, { caller })).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    expect(asked.map(({ tool, reason }) => [tool, reason])).toEqual([
      ['fresh', 'the tool was added after its server was approved'],
      ['read', "the tool's definition changed since it was approved"],
    ]);
  });

  it("pins persist across restarts, and two concurrent runtimes do not overwrite each other's pins", async () => {
    const tools = [toolNamed('write')];
    const twins = [new TinyServer(tools), new TinyServer(tools)];
    const opened = await Promise.all(twins.map((tiny) => open(options(tiny))));
    await Promise.all(opened.map(({ runtime }) => runtime.close()));
    expect(JSON.parse(await readFile(home.file('pins.json'), 'utf8'))).toMatchObject({
      servers: ['files'],
      pins: [{ tool: 'write', by: 'first-use' }],
    });
    const changed = new TinyServer([toolNamed('write', { description: 'Evil' }), toolNamed('more')]);
    const { runtime } = await open(options(changed));
    const pins = ['write', 'more'].map((tool) => runtime.decide({ server: 'files', tool, caller }).pin);
    expect(pins).toEqual(['changed', 'new']);
  });
});

describe('the pin file', () => {
  it('does not undo new pins before it is written', async () => {
    const tiny = new TinyServer([toolNamed('write')]);
    let release = () => {};
    const held = withFileLock(home.file('pins.json'), () => new Promise<void>((done) => (release = done)));
    const { runtime } = await open({ ...allowAll, pins: 'all', servers: { files: tiny.config() } });
    tiny.tools = [toolNamed('write', { description: 'Evil' })];
    await runtime.refresh('files');
    await delay(50);
    expect(runtime.decide({ server: 'files', tool: 'write', caller })).toMatchObject({ pin: 'changed' });
    release();
    await held;
  });

  it.each([
    '{ broken',
    '{"version":2,"pins":[],"servers":[]}',
    '{"version":1,"pins":[{}],"servers":[]}',
    '[]',
  ])('that is invalid makes every tool need approval and is not overwritten: %s', async (content) => {
    await writeFile(home.file('pins.json'), content);
    const tiny = new TinyServer([toolNamed('write')]);
    const { runtime, asked } = await open({ ...allowAll, servers: { files: tiny.config() } }, ['always']);
    const lost: unknown[] = [];
    runtime.on('approval.lost', (event) => lost.push(event.tool));
    await runtime.callTool('files', 'write', {}, { caller });
    expect(asked).toMatchObject([{ reason: 'the approved definitions cannot be read' }]);
    expect(lost).toEqual(['write']);
    expect(await readFile(home.file('pins.json'), 'utf8')).toBe(content);
    expect(() => runtime.pins.list()).toThrow(/pins\.json/);
  });

  it.each(['a link that leads nowhere', 'a directory'])(
    '%s in its place makes every tool need approval',
    async (what) => {
      const place = home.file('pins.json');
      if (what === 'a directory') await mkdir(place);
      else await symlink(home.file('drive/pins.json'), place);
      const tiny = new TinyServer([toolNamed('write')]);
      const { runtime, asked } = await open({ ...allowAll, servers: { files: tiny.config() } }, ['always']);
      await runtime.callTool('files', 'write', {}, { caller });
      expect(asked).toMatchObject([{ reason: 'the approved definitions cannot be read' }]);
      expect(() => runtime.pins.list()).toThrow(/pins\.json/);
      expect(existsSync(home.file('drive'))).toBe(false);
    },
  );

  it('that was unreadable for a moment is read again, even if it is the same as before', async () => {
    const place = home.file('pins.json');
    const tiny = new TinyServer([toolNamed('write')]);
    const { runtime } = await open({ ...allowAll, servers: { files: tiny.config() } });
    const decision = () => runtime.decide({ server: 'files', tool: 'write', caller }).action;
    for (const isPinned of [false, true]) {
      if (isPinned) await runtime.pins.pin('files', 'write');
      await runtime.pins.load();
      expect(decision()).toBe('allow');
      if (isPinned) await rename(place, home.file('kept'));
      await mkdir(place);
      await runtime.pins.load();
      expect(decision()).toBe('ask');
      await rmdir(place);
      if (isPinned) await rename(home.file('kept'), place);
      await runtime.pins.load();
      expect(decision()).toBe('allow');
    }
  });

  it('that is replaced by an earlier version of itself takes back the approval', async () => {
    const [place, backup] = [home.file('pins.json'), home.file('backup')];
    const tiny = new TinyServer([toolNamed('write')]);
    const { runtime } = await open({ ...allowAll, servers: { files: tiny.config() } });
    await runtime.pins.pin('files', 'write');
    await runtime.pins.load();
    await link(place, backup);
    tiny.tools = [toolNamed('write', { description: 'Other' })];
    await runtime.refresh('files');
    await runtime.pins.pin('files', 'write');
    expect(runtime.decide({ server: 'files', tool: 'write', caller }).action).toBe('allow');
    await rename(backup, place);
    await runtime.pins.load();
    expect(runtime.decide({ server: 'files', tool: 'write', caller })).toMatchObject({ pin: 'changed' });
  });

  it('is readable only by its user', async () => {
    const { stat } = await import('node:fs/promises');
    const { runtime } = await open({ servers: { files: new TinyServer([toolNamed('a')]).config() } });
    await runtime.pins.pin('files');
    expect((await stat(home.file('pins.json'))).mode & 0o777).toBe(0o600);
  });
});

describe('the event tool.changed', () => {
  it('reports tools without a pin too, and renamed ones', async () => {
    const tiny = new TinyServer([toolNamed('write'), toolNamed('old', { description: 'Same' })]);
    const { runtime, changes } = await open({ servers: { files: tiny.config() } });
    tiny.tools = [
      toolNamed('write', { title: 'T' }),
      toolNamed('fresh', { description: 'Same' }),
      toolNamed('new'),
    ];
    tiny.announce();
    await waitUntil(() => changes.length === 2);
    await runtime.refresh('files');
    expect(changes).toEqual([
      { server: 'files', tool: 'write', since: 'last-list', diff: ['+ title: "T"'] },
      { server: 'files', tool: 'fresh', since: 'last-list', diff: ['- name: "old"', '+ name: "fresh"'] },
    ]);
  });
});
