import { readFile } from 'node:fs/promises';
import { fixture } from '@turnbuckle/testing';
import { createRuntime, type Rule } from 'turnbuckle';
import { beforeEach, describe, expect, it } from 'vitest';
import { covers, placeFor } from '../../src/rule-order.js';
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
  it('shows the change, and writes nothing where nobody can agree', async () => {
    const { code, stdout, stderr } = await run('allow', 'cursor', 'files', 'read_file');
    expect({ code, stdout }).toEqual({ code: 20, stdout: '' });
    expect(stderr).toMatch(/^\+ .*"action": "allow"/m);
    expect(await readFile(home.config, 'utf8')).toBe(COMMENTED);
  });

  it('makes a rule that decides, keeps comments, and is taken back to the byte', async () => {
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
    expect(again).toMatchObject({ code: 0, stderr: `That rule is in ${home.config} already.\n` });
    expect((await run('--undo')).stdout).toBe(`${home.config} is as it was before.\n`);
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
    expect(stderr).toContain(`warning It has no effect: another one comes first, rule 0, ${home.config}:`);
    expect(stderr).toContain('turnbuckle rules remove 0');
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('deny');
    await run('--undo');
    const made = await json(['rules', 'allow', 'cursor', 'files', '--first', '--yes'], { home });
    expect(made).toMatchObject({ position: 0, changed: true, decidedBy: null });
    expect(await decided('files', 'read_file', '--caller', 'cursor')).toBe('allow');
  });

  it('is for one kind where it is told so', async () => {
    await run('deny', '*', 'files', 'secret://*', '--kind', 'resource', '--yes');
    expect(await decided('files', 'secret://a', '--kind', 'resource', '--caller', 'x')).toBe('deny');
    expect(await decided('files', 'secret://a', '--caller', 'x')).toBe('ask');
    expect((await run('deny', '*', '--kind', 'tols')).code).toBe(13);
  });

  it("goes into a project's file, where it may not allow", async () => {
    const refused = await run('allow', 'cursor', '--scope', 'project', '--yes');
    expect(refused.code).toBe(13);
    expect(refused.stderr).toContain('may only ask or deny');
    expect((await run('ask', 'cursor', '--scope', 'project', '--yes')).code).toBe(0);
    expect(JSON.parse(await home.read('project/.turnbuckle/mcp.json'))).toEqual({
      rules: [{ action: 'ask', caller: 'cursor' }],
    });
    const above = await run('ask', 'cursor', 'files', '--scope', 'local', '--yes');
    expect(above.stderr).toContain('It has no effect: another one comes first, rule 1');
  });

  it.each([
    [['allow'], 13, 'The caller is missing'],
    [['allow', 'a', 'b', 'c', 'd'], 13, 'one word too many'],
    [['alow', 'a'], 13, 'Did you mean "turnbuckle rules allow"?'],
    [['allow', 'x'.repeat(300), '--yes'], 10, 'caller'],
    [['allow', 'a', 'fils', '--yes'], 0, 'Did you mean "files"?'],
  ])('%j', async (words, code, text) => {
    const outcome = await run(...words);
    expect(outcome.stderr).toContain(text);
    expect(outcome.code).toBe(code);
  });

  it('makes the file where there is none, and leaves one alone that is broken', async () => {
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
  it('takes a rule out by its number, or by its id, and the rest stays', async () => {
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

  it('takes out one that cannot be understood', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      rules: [{ action: 'deny' }, { action: 'ask', tol: 'x' }],
    });
    expect((await run('remove', '1', '--yes')).code).toBe(0);
    expect((await listed()).map(({ rule }) => rule)).toEqual([{ action: 'deny' }]);
  });

  it('does not know others', async () => {
    const { code, stderr } = await run('remove', '7', '--yes');
    expect(code).toBe(13);
    expect(stderr).toContain('There is no rule 7.');
  });
});

/** Numbers as good as random ones, the same each time. */
function createPicker(seed: number): <T>(items: readonly T[]) => T {
  let state = seed;
  return (items) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return items[Math.floor((state / 2_147_483_648) * items.length)] as (typeof items)[number];
  };
}

it('says of no rule that it has no effect when it would decide a call', async () => {
  const pick = createPicker(7);
  const names = [
    undefined,
    undefined,
    '*',
    '*',
    'a',
    'b',
    'a*',
    '?',
    'a?',
    '\\*',
    ['a', 'b'],
    ['ab', 'a*'],
  ] as const;
  const kinds = [undefined, 'tool', 'resource', ['tool', 'prompt']] as const;
  const make = (): Rule =>
    JSON.parse(
      JSON.stringify({
        action: pick(['allow', 'ask', 'deny']),
        ...{ caller: pick(names), server: pick(names), tool: pick(names), kind: pick(kinds) },
        arguments: pick([undefined, undefined, undefined, { path: 'x' }]),
      }),
    );
  const runtime = await createRuntime({
    servers: { a: fixture('echo'), b: fixture('echo'), ab: fixture('echo') },
  });
  const words = ['a', 'b', 'ab', '*'];
  let covered = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const [earlier, later] = [make(), make()];
    const placed = [earlier, later].map((rule, position) => ({ rule, from: 'user' as const, position }));
    runtime.setRules(placed, {});
    const isCovered = covers(earlier, later);
    if (isCovered) covered += 1;
    for (let calls = 0; calls < 12; calls += 1) {
      const call = {
        server: pick(words.slice(0, 3)),
        tool: pick(words),
        kind: pick(['tool', 'resource', 'prompt'] as const),
        arguments: { path: pick(['x', 'y']) },
        caller: { id: pick(words), capabilities: ['mcp_integration'] },
      };
      const { rule } = runtime.explain(call).decision;
      if (isCovered) expect([earlier, later, call, rule?.index]).not.toContain(1);
    }
    if (later.action !== 'deny' && earlier.action === 'deny' && isCovered)
      expect(placeFor(later, [earlier])).toBe(1);
  }
  await runtime.close();
  expect(covered).toBeGreaterThan(40);
});
