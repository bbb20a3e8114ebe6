import { readFile } from 'node:fs/promises';
import { fixture } from '@turnbuckle/testing';
import { createRuntime, type Rule } from 'turnbuckle';
import { beforeEach, describe, expect, it } from 'vitest';
import { findOverlaps, positionFor } from '../../src/rules/rule-order.js';
import { covers, overlaps } from '../../src/rules/rule-overlap.js';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
const COMMENTED = `{
  // mine
  "servers": { "files": { "command": "files" } },
  "rules": [
    // nobody writes there
    { "action": "deny", "tool": "write_*", "arguments": { "path": "/etc/**" } },
    { "action": "ask", "server": "files" }, // the rest
  ],
}
`;

beforeEach(async () => {
  home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', COMMENTED);
});

const run = (...words: string[]) => turnbuckle(['rules', ...words], { home });
const listed = async (): Promise<Array<{ id: string; rule: Rule }>> =>
  (await json<{ rules: Array<{ id: string; rule: Rule }> }>(['rules'], { home })).rules;
const decided = async (...words: string[]): Promise<string> =>
  (await json<{ decision: { action: string } }>(['rules', 'test', ...words], { home })).decision.action;

describe('rules allow, ask, deny', () => {
  it('shows the change, and writes nothing without a terminal', async () => {
    const { code, stdout, stderr } = await run('allow', 'cursor', 'files', 'read_file');
    expect({ code, stdout }).toEqual({ code: 20, stdout: '' });
    expect(stderr).toMatch(/^\+ .*"action": "allow"/m);
    expect(await readFile(home.config, 'utf8')).toBe(COMMENTED);
  });

  it('adds a rule that decides, keeps comments, and can be undone byte for byte', async () => {
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('ask');
    const { code, stdout } = await run(
      'allow',
      'cursor',
      'files',
      'read_file',
      '--yes',
      '--reason',
      'it reads',
    );
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Written to ${home.config}: allow caller cursor, server files, tool read_file # it reads\n`,
    });
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('allow');
    expect(await decided('files', 'read_file', '--caller', 'other')).toBe('ask');
    expect(await decided('files', 'write_file', 'path=/etc/passwd', '--caller', 'cursor')).toBe('deny');
    const text = await readFile(home.config, 'utf8');
    for (const comment of ['// mine', '// nobody writes there', '// the rest'])
      expect(text).toContain(comment);
    const again = await run('allow', 'cursor', 'files', 'read_file', '--yes');
    expect(again).toMatchObject({ code: 0, stderr: `${home.config} already has this rule.\n` });
    expect((await run('--undo')).stdout).toBe(`${home.config} restored.\n`);
    expect(await readFile(home.config, 'utf8')).toBe(COMMENTED);
    expect((await run('--undo')).code).toBe(10);
  });

  it('puts a deny first', async () => {
    await run('allow', '*', '--yes');
    await run('deny', 'cursor', 'files', '--yes');
    expect((await listed())[0]?.rule).toEqual({ action: 'deny', caller: 'cursor', server: 'files' });
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('deny');
  });

  it('never goes before a deny by itself: it says that it has no effect, and how it would', async () => {
    await run('deny', 'cursor', '--yes');
    const { code, stderr } = await run('allow', 'cursor', 'files', '--yes');
    expect(code).toBe(0);
    expect(stderr).toContain(
      `warning This rule has no effect because an earlier rule decides every call that it matches:\n        rule 0, ${home.config}:`,
    );
    expect(stderr).toContain('turnbuckle rules remove 0');
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('deny');
    await run('--undo');
    const made = await json(['rules', 'allow', 'cursor', 'files', '--first', '--yes'], { home });
    expect(made).toMatchObject({ position: 0, changed: true, decidedBy: null });
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('allow');
  });

  it('puts an ask before an allow for some of the same calls, and says so', async () => {
    const own = await createHome({ files: { command: 'files' } });
    const runOwn = (...words: string[]) => turnbuckle(['rules', ...words], { home: own });
    const test = async (...words: string[]): Promise<string> =>
      (await json<{ decision: { action: string } }>(['rules', 'test', 'files', ...words], { home: own }))
        .decision.action;
    await runOwn('allow', 'cursor', 'files', '--yes');
    const asked = await runOwn('ask', '*', 'files', 'write_*', '--yes');
    expect(asked.stderr).toContain(
      'warning This rule comes before these rules and decides ("ask") some of the calls that they match:',
    );
    expect(asked.stderr).toContain(`rule 0, ${own.config}:`);
    expect(await test('write_file', '--caller', 'cursor')).toBe('ask');
    expect(await test('read_file', '--caller', 'cursor')).toBe('allow');
    // An allow rule that is narrower than the ask rule is an exception: it keeps its effect, and the output names it.
    await runOwn('allow', 'zed', 'files', 'write_note', '--first', '--yes');
    const wide = await json<{ before: Array<{ rule: Rule }> }>(['rules', 'ask', '*', 'files', '--yes'], {
      home: own,
    });
    expect(wide.before.map(({ rule }) => rule.caller)).toEqual(['zed', 'cursor']);
    expect(await test('write_note', '--caller', 'zed')).toBe('allow');
    const partly = await runOwn('allow', 'zed', 'files', '--yes');
    expect(partly.stderr).toContain('Earlier rules decide some of the calls that this rule matches:');
    expect(partly.stderr).toContain('ask server files, tool write_*, caller *');
  });

  it('applies to all agents but not the host, or to the host alone', async () => {
    await run('deny', 'agents', 'files', 'write_*', '--yes');
    expect(await decided('files', 'write_file', '--caller', 'anybody')).toBe('deny');
    expect(await decided('files', 'write_file')).toBe('ask');
    expect(await decided('files', 'write_file', '--caller', 'host')).toBe('ask');
    await run('deny', 'host', 'files', 'read_*', '--yes');
    expect(await decided('files', 'read_file', '--caller', 'host')).toBe('deny');
    expect(await decided('files', 'read_file', '--caller', 'anybody')).toBe('ask');
  });

  it('warns of a caller that there is not, and refuses the one that is you by another name', async () => {
    await turnbuckle(['token', 'create', 'agent2'], { home });
    const misspelt = await run('deny', 'agnet2', 'files', '--yes');
    expect(misspelt.code).toBe(0);
    expect(misspelt.stderr).toContain('warning No token is named "agnet2". Did you mean "agent2"?');
    expect((await run()).stderr).toContain('warning Rule 0: No token is named "agnet2".');
    for (const name of ['agent2', 'agent*', 'host', 'agents', 'jwt:someone', 'stdio:zed'])
      expect((await run('ask', name, '--yes')).stderr).not.toContain('No token');
    const owner = await run('deny', 'owner', 'files', 'write_*', '--yes');
    expect(owner.code).toBe(13);
    expect(owner.stderr).toContain(
      'The name "owner" is reserved for your own token. In a rule, use "host" for your own calls.',
    );
    expect(owner.stderr).toContain("turnbuckle rules deny host files 'write_*'");
    expect((await run('test', 'files', 'a', '--caller', 'owner')).code).toBe(13);
    await home.write('.config/turnbuckle/mcp.json', {
      rules: [{ action: 'deny', caller: ['agent2', 'owner'] }],
    });
    expect((await run()).stderr).toContain('warning Rule 0: The name "owner" is reserved for your own token');
  });

  it('is limited to one kind with --kind', async () => {
    await run('deny', '*', 'files', 'secret://*', '--kind', 'resource', '--yes');
    expect(await decided('files', 'secret://a', '--kind', 'resource', '--caller', 'x')).toBe('deny');
    expect(await decided('files', 'secret://a', '--caller', 'x')).toBe('ask');
    expect((await run('deny', '*', '--kind', 'tols')).code).toBe(13);
  });

  it("goes into a project's file, where it may not allow", async () => {
    const refused = await run('allow', 'cursor', '--scope', 'project', '--yes');
    expect(refused.code).toBe(13);
    expect(refused.stderr).toContain('can only ask or deny');
    expect((await run('ask', 'cursor', '--scope', 'project', '--yes')).code).toBe(0);
    expect(JSON.parse(await home.read('project/.turnbuckle/mcp.json'))).toEqual({
      rules: [{ action: 'ask', caller: 'cursor' }],
    });
    const above = await run('ask', 'cursor', 'files', '--scope', 'local', '--yes');
    expect(above.stderr).toContain('an earlier rule decides every call that it matches:\n        rule 1');
  });

  it.each([
    [['allow'], 13, 'Missing argument: caller.'],
    [['allow', 'a', 'b', 'c', 'd'], 13, 'Unexpected argument "d"'],
    [['alow', 'a'], 13, 'Did you mean "turnbuckle rules allow"?'],
    [['allow', 'x'.repeat(300), '--yes'], 10, 'caller'],
    [['allow', 'a', 'fils', '--yes'], 0, 'Did you mean "files"?'],
  ])('%j', async (words, code, text) => {
    const outcome = await run(...words);
    expect(outcome.stderr).toContain(text);
    expect(outcome.code).toBe(code);
  });

  it('creates a missing file, and does not change a broken one', async () => {
    const empty = await createHome();
    expect((await turnbuckle(['rules', 'deny', 'a', '--yes'], { home: empty })).code).toBe(0);
    expect(JSON.parse(await empty.read('.config/turnbuckle/mcp.json'))).toEqual({
      rules: [{ action: 'deny', caller: 'a' }],
    });
    await home.write('.config/turnbuckle/mcp.json', '{ "rules": [');
    expect((await run('deny', 'a', '--yes')).code).toBe(10);
    expect(await readFile(home.config, 'utf8')).toBe('{ "rules": [');
  });
});

describe('rules remove', () => {
  it('removes a rule by its number or id, and keeps the rest', async () => {
    const [first, second] = await listed();
    expect((await run('remove', '1')).code).toBe(20);
    expect((await run('remove', second?.id ?? '', '--yes')).stdout).toContain('ask server files');
    expect((await listed()).map(({ id }) => id)).toEqual([first?.id]);
    expect(await readFile(home.config, 'utf8')).toContain('// nobody writes there');
    expect((await run('remove', '0', '--yes')).code).toBe(0);
    expect(await listed()).toEqual([]);
    expect((await run('--undo')).code).toBe(0);
    expect((await listed()).map(({ id }) => id)).toEqual([first?.id]);
  });

  it('removes an invalid rule', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      rules: [{ action: 'deny' }, { action: 'ask', tol: 'x' }],
    });
    expect((await run('remove', '1', '--yes')).code).toBe(0);
    expect((await listed()).map(({ rule }) => rule)).toEqual([{ action: 'deny' }]);
  });

  it('refuses an unknown number', async () => {
    const { code, stderr } = await run('remove', '7', '--yes');
    expect(code).toBe(13);
    expect(stderr).toContain('Unknown rule 7.');
  });
});

/** Picks items pseudo-randomly, in the same order for the same seed. */
function createPicker(seed: number): <T>(items: readonly T[]) => T {
  let state = seed;
  return (items) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return items[Math.floor((state / 2_147_483_648) * items.length)] as (typeof items)[number];
  };
}

const NAMES = [
  undefined,
  undefined,
  '*',
  'a',
  'b',
  'a*',
  '*b',
  '?',
  'a?',
  '\\*',
  ['a', 'b'],
  ['ab', 'a*'],
] as const;
const CALLERS = [...NAMES, 'agents', 'agents', 'host', ['agents', 'host'], 'agent?'] as const;
const KINDS = [undefined, 'tool', 'resource', ['tool', 'prompt']] as const;
const WORDS = ['a', 'b', 'ab', '*'];

type Pick = ReturnType<typeof createPicker>;

const makeRule = (pick: Pick): Rule =>
  JSON.parse(
    JSON.stringify({
      action: pick(['allow', 'ask', 'deny']),
      ...{ caller: pick(CALLERS), server: pick(NAMES), tool: pick(NAMES), kind: pick(KINDS) },
      arguments: pick([undefined, undefined, undefined, { path: 'x' }]),
    }),
  );

const makeCall = (pick: Pick) => ({
  server: pick(WORDS.slice(0, 3)),
  tool: pick(WORDS),
  kind: pick(['tool', 'resource', 'prompt'] as const),
  arguments: { path: pick(['x', 'y']) },
  caller:
    pick(
      [undefined, ...WORDS, 'agents', 'other'].map((id) => id && { id, capabilities: ['mcp_integration'] }),
    ) || undefined,
});

it('puts no rule where others decide some of its calls in silence, and none before a deny', async () => {
  const pick = createPicker(11);
  const runtime = await createRuntime({
    servers: { a: fixture('echo'), b: fixture('echo'), ab: fixture('echo') },
  });
  const place = (rules: readonly Rule[]) =>
    rules.map((rule, position) => ({ rule, from: 'user' as const, file: 'f', position }));
  const decide = (rules: readonly Rule[], call: ReturnType<typeof makeCall>) => {
    runtime.setRules(place(rules));
    return runtime.explain(call).decision;
  };
  let reported = 0;
  let disjoint = 0;
  for (let round = 0; round < 1_000; round += 1) {
    const written = Array.from({ length: pick([1, 2, 3, 4]) }, () => makeRule(pick));
    const { arguments: _none, ...rule } = makeRule(pick);
    const position = positionFor(rule, written);
    const placed = place(written);
    const { shadowedBy, before } = findOverlaps(rule, { file: 'f', from: 'user', position }, placed);
    for (let calls = 0; calls < 10; calls += 1) {
      const call = makeCall(pick);
      const fits = decide([rule], call).rule !== undefined;
      const was = decide(written, call);
      const is = decide(written.toSpliced(position, 0, rule), call);
      const seen = JSON.stringify({ written, rule, position, call });
      if (was.action === 'deny') expect(is.action, seen).toBe('deny');
      const by = is.rule?.index;
      if (fits && by !== undefined && by !== position && is.action !== rule.action) {
        const deciding = placed[by > position ? by - 1 : by];
        expect([shadowedBy, ...before], seen).toContain(deciding);
        reported += 1;
      }
      for (const other of written)
        if (!overlaps(rule, other)) {
          disjoint += 1;
          expect(fits && decide([other], call).rule !== undefined, seen).toBe(false);
        }
    }
  }
  await runtime.close();
  expect(reported).toBeGreaterThan(40);
  expect(disjoint).toBeGreaterThan(1_000);
}, 60_000);

it('never reports "no effect" for a rule that would decide a call', async () => {
  const pick = createPicker(7);
  const runtime = await createRuntime({
    servers: { a: fixture('echo'), b: fixture('echo'), ab: fixture('echo') },
  });
  let covered = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const [earlier, later] = [makeRule(pick), makeRule(pick)];
    const placed = [earlier, later].map((rule, position) => ({ rule, from: 'user' as const, position }));
    runtime.setRules(placed);
    const isCovered = covers(earlier, later);
    if (isCovered) covered += 1;
    for (let calls = 0; calls < 12; calls += 1) {
      const call = makeCall(pick);
      const { rule } = runtime.explain(call).decision;
      if (isCovered) expect([earlier, later, call, rule?.index]).not.toContain(1);
    }
    if (later.action !== 'deny' && earlier.action === 'deny' && isCovered)
      expect(positionFor(later, [earlier])).toBe(1);
  }
  await runtime.close();
  expect(covered).toBeGreaterThan(40);
});
