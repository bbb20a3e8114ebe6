import fc from 'fast-check';
import { type Caller, createRuntime, type ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decide, decideVisibility, type PolicyOptions, type Subject } from '../../src/policy/decide.js';
import { compileGlob } from '../../src/text/glob.js';
import { createSetting } from '../config/setting.js';
import { TinyServer, toolNamed } from './tiny-server.js';

type Requires = NonNullable<ServerInput['requires']>;

const policy = (requires: Requires): PolicyOptions => ({
  defaultDecision: 'allow',
  known: { hasServer: (name) => name === 's' },
  serverPolicy: () => ({ trusted: false, requires }),
});
const caller = (...capabilities: string[]): Caller => ({ id: 'a', capabilities: ['mcp:s', ...capabilities] });
const subject = (tool: string, kind: Subject['kind'] = 'tool'): Subject => ({
  server: 's',
  tool,
  kind,
  hints: undefined,
});

// requirement P1
describe('requires', () => {
  const BY_TOOL = {
    delete_all: ['admin'],
    'delete_*': ['writer', 'mcp_extra'],
    'file:///private/**': ['admin'],
  };
  it.each<[Requires, string, Subject['kind'], string[], 'allow' | 'deny']>([
    [[], 'read', 'tool', [], 'allow'],
    [['x'], 'read', 'tool', [], 'deny'],
    [['x'], 'read', 'tool', ['x'], 'allow'],
    [['x', 'y'], 'read', 'tool', ['x'], 'deny'],
    [{}, 'read', 'tool', [], 'allow'],
    [BY_TOOL, 'read', 'tool', [], 'allow'],
    [BY_TOOL, 'delete_one', 'tool', [], 'deny'],
    [BY_TOOL, 'delete_one', 'tool', ['writer'], 'deny'],
    [BY_TOOL, 'delete_one', 'tool', ['writer', 'mcp_extra'], 'allow'],
    // Every matching entry counts.
    [BY_TOOL, 'delete_all', 'tool', ['writer', 'mcp_extra'], 'deny'],
    [BY_TOOL, 'delete_all', 'tool', ['admin'], 'deny'],
    [BY_TOOL, 'delete_all', 'tool', ['writer', 'mcp_extra', 'admin'], 'allow'],
    [BY_TOOL, 'delete_all', 'prompt', ['admin'], 'deny'],
    // However its address is written.
    [BY_TOOL, 'file:///private/key', 'resource', [], 'deny'],
    [BY_TOOL, 'FILE:///public/../private/key', 'resource', [], 'deny'],
    [BY_TOOL, 'file:///%70rivate/key', 'resource', [], 'deny'],
    [BY_TOOL, 'file:///private/key', 'resource', ['admin'], 'allow'],
    [BY_TOOL, 'file:///public/key', 'resource', [], 'allow'],
    [{ '*': ['x'] }, '', 'tool', [], 'deny'],
    [{ constructor: ['x'] }, 'toString', 'tool', [], 'allow'],
  ])('%j: %s (%s) with %j is %s', (requires, tool, kind, held, action) => {
    expect(decide(caller(...held), subject(tool, kind), policy(requires)).action).toBe(action);
    const seen = decideVisibility(caller(...held), subject(tool, kind), policy(requires));
    expect([seen.action, seen.hidden]).toEqual([action, action === 'deny']);
  });

  it.each<[string[], string[], 'allow' | 'deny']>([
    [['x'], ['mcp_integration', 'x'], 'allow'],
    [['x'], ['mcp_integration'], 'deny'],
    [[], ['mcp_integration', 'x'], 'deny'],
    [['x'], ['x'], 'deny'],
  ])('of a caller with %j and a limit of %j is %s', (held, most, action) => {
    const bound: Caller = { ...caller(...held), limits: { capabilities: [['mcp:s', 'x'], most] } };
    expect(decide(bound, subject('read'), policy(['x'])).action).toBe(action);
    expect(decideVisibility(bound, subject('read'), policy(['x'])).action).toBe(action);
  });

  const words = fc.constantFrom('x', 'y', 'z');
  const patterns = fc.constantFrom('*', 'read', 'r*', '*d', 'a/*', 'a', '?ead', '**');
  const tools = fc.constantFrom('read', 'red', 'a', 'a/b', 'd', '');
  const lists = fc.uniqueArray(words, { maxLength: 3 });

  it('of a map is the union of all entries that match, for lists and calls alike', () => {
    fc.assert(
      fc.property(fc.dictionary(patterns, lists), tools, lists, (map, tool, held) => {
        const needed = Object.entries(map).flatMap(([pattern, list]) =>
          compileGlob(pattern, { crossSlashes: true })(tool) ? list : [],
        );
        const expected = needed.every((word) => held.includes(word)) ? 'allow' : 'deny';
        for (const one of [decide, decideVisibility])
          expect(one(caller(...held), subject(tool), policy(map)).action).toBe(expected);
      }),
    );
  });

  it('of one entry for everything is the same as a list, for every kind', () => {
    fc.assert(
      fc.property(
        lists,
        lists,
        fc.oneof(tools, fc.string(), fc.webUrl()),
        fc.constantFrom<Subject['kind']>('tool', 'resource', 'prompt'),
        (list, held, name, kind) => {
          const [one, two] = [list, { '*': list }].map((requires) =>
            decide(caller(...held), subject(name, kind), policy(requires)),
          );
          expect(one).toEqual(two);
        },
      ),
    );
  });

  it('hides a tool from lists and searches, and refuses its call like one that does not exist', async () => {
    const server = new TinyServer([toolNamed('read'), toolNamed('delete_all')]);
    const runtime = await createRuntime({
      defaultDecision: 'allow',
      servers: { s: server.config({ requires: { 'delete_*': ['admin'] } }) },
    });
    onTestFinished(() => runtime.close());
    await runtime.connectAll();
    const names = (one: Caller) => runtime.toolsForAgent(one).map(({ tool }) => tool);
    expect(names(caller())).toEqual(['read']);
    expect(names(caller('admin'))).toEqual(['delete_all', 'read']);
    expect((await runtime.visibleTools(caller())).map(({ tool }) => tool)).toEqual(['read']);
    expect(runtime.toolsForAgent(caller(), 'delete')).toEqual([]);
    const message = async (tool: string) =>
      runtime.callTool('s', tool, {}, { caller: caller() }).then(
        () => 'called',
        (error: Error & { code: string }) => `${error.code} ${error.message.replaceAll(tool, '…')}`,
      );
    expect(await message('delete_all')).toBe(await message('delete_nothing'));
    expect(await message('read')).toBe('called');
    expect(runtime.decide({ server: 's', tool: 'delete_all', caller: caller() })).toMatchObject({
      action: 'deny',
      reason: 'the caller lacks the capability "admin"',
    });
  });
});

describe('requires in files', () => {
  it('a project can add to it, never remove', async () => {
    const requiresAfter = async (user: unknown, project: unknown): Promise<unknown> => {
      const setting = await createSetting();
      const own = user === undefined ? {} : { requires: user };
      await setting.write(setting.userFile, { servers: { one: { command: 'x', ...own } } });
      await setting.write(setting.projectFile, { servers: { one: { requires: project } } });
      return (await setting.load()).parsed.servers.get('one')?.requires;
    };
    expect(await requiresAfter(['a'], [])).toEqual(['a']);
    expect(await requiresAfter(['a'], {})).toEqual({ '*': ['a'] });
    expect(await requiresAfter(['a'], { x: ['b'] })).toEqual({ '*': ['a'], x: ['b'] });
    expect(await requiresAfter({ x: ['a'] }, { x: [], y: ['b'] })).toEqual({ x: ['a'], y: ['b'] });
    expect(await requiresAfter({ x: ['a'] }, ['b'])).toEqual({ x: ['a'], '*': ['b'] });
    expect(await requiresAfter({ x: ['a'] }, [])).toEqual({ x: ['a'], '*': [] });
    expect(await requiresAfter(undefined, { x: ['b'] })).toEqual({ x: ['b'] });
  });

  it.each([
    ['a string', 'admin'],
    ['a number in a list', { x: [5] }],
    ['a map of strings', { x: 'admin' }],
    ['too many', { x: Array.from({ length: 51 }, (_, index) => `c${index}`) }],
  ])('%s is a problem', async (_, requires) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { one: { command: 'x', requires } } });
    const { problem } = (await setting.load()).servers.get('one') ?? {};
    expect(problem?.message).toContain(
      'servers.one.requires: expected a list of at most 50 capabilities, or a map from tool names to such lists',
    );
  });
});
