import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
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
import { withFileLock } from '../../src/config/edit/file-lock.js';
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
const shifty = (...flags: string[]) => ({ servers: { shifty: fixture('schema-changing', ...flags) } });
const note = { note: 'x' };

describe('a real server whose tool becomes another', () => {
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
  ])('with a notification is held back, its neighbour is not: %s', async (what, diff) => {
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
    expect(asked).toMatchObject([{ reason: 'it changed since it was approved', change: diff }]);
    expect(
      (await runtime.callTool('shifty', 'echo', { text: 'neighbour' }, { caller })).content,
    ).toHaveLength(1);
  });

  it('without a notification is held back from the next reading on', async () => {
    const { runtime, asked } = await open({ ...allowAll, ...shifty('--when', 'first-list', '--silent') });
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

  it('is held back at the next start, for the host too, and with nobody to ask', async () => {
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
        reason: 'it changed since it was approved',
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

  it('comes with the answer "always" and with no other', async () => {
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

  it('that is renewed or taken away elsewhere is seen here', async () => {
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

  it('counts every part that an agent reads, and nothing else', async () => {
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

  it('is none with "off", and nothing is asked', async () => {
    const tiny = server();
    const options = { ...allowAll, servers: { files: tiny.config() }, pins: 'off' } as const;
    const { runtime, asked } = await open(options);
    await runtime.pins.pin('files');
    change(tiny);
    await runtime.refresh('files');
    await runtime.callTool('files', 'write', {}, { caller });
    expect(asked).toEqual([]);
  });

  it('cannot be set for what is not there', async () => {
    const { runtime } = await open({ servers: { files: server().config() } });
    await expect(runtime.pins.pin('files', 'nonesuch')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect(await runtime.pins.unpin('files', 'nonesuch')).toEqual([]);
  });

  it('keeps odd names apart', async () => {
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

  it('of a large definition is its hash alone, and still holds', async () => {
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

describe('with everything pinned at first sight', () => {
  const options = (tiny: TinyServer): RuntimeOptions => ({
    ...allowAll,
    pins: 'all',
    servers: { files: tiny.config() },
  });

  it('what was seen first is approved, and a change or a new tool is held back', async () => {
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
      ['fresh', 'it came after its server was approved'],
      ['read', 'it changed since it was approved'],
    ]);
  });

  it('holds over starts, and two that see a server first at once do not undo each other', async () => {
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

describe('the file of pins', () => {
  it('that is not written yet does not undo what was seen', async () => {
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
  ])('that cannot be understood holds everything back and is not overwritten: %s', async (content) => {
    await writeFile(home.file('pins.json'), content);
    const tiny = new TinyServer([toolNamed('write')]);
    const { runtime, asked } = await open({ ...allowAll, servers: { files: tiny.config() } }, ['always']);
    const lost: unknown[] = [];
    runtime.on('approval.lost', (event) => lost.push(event.tool));
    await runtime.callTool('files', 'write', {}, { caller });
    expect(asked).toMatchObject([{ reason: 'what was approved cannot be read' }]);
    expect(lost).toEqual(['write']);
    expect(await readFile(home.file('pins.json'), 'utf8')).toBe(content);
    expect(() => runtime.pins.list()).toThrow(/pins\.json/);
  });

  it.each(['a link that leads nowhere', 'a directory'])(
    '%s in its place holds everything back',
    async (what) => {
      const place = home.file('pins.json');
      if (what === 'a directory') await mkdir(place);
      else await symlink(home.file('drive/pins.json'), place);
      const tiny = new TinyServer([toolNamed('write')]);
      const { runtime, asked } = await open({ ...allowAll, servers: { files: tiny.config() } }, ['always']);
      await runtime.callTool('files', 'write', {}, { caller });
      expect(asked).toMatchObject([{ reason: 'what was approved cannot be read' }]);
      expect(() => runtime.pins.list()).toThrow(/pins\.json/);
      expect(existsSync(home.file('drive'))).toBe(false);
    },
  );

  it('is only for its user', async () => {
    const { stat } = await import('node:fs/promises');
    const { runtime } = await open({ servers: { files: new TinyServer([toolNamed('a')]).config() } });
    await runtime.pins.pin('files');
    expect((await stat(home.file('pins.json'))).mode & 0o777).toBe(0o600);
  });
});

describe('the event tool.changed', () => {
  it('tells of tools that nobody pinned too, and of new names for old ones', async () => {
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
