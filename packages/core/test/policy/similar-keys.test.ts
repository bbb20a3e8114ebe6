/** An argument in two spellings: the server may read the one that a rule did not check. */
import { createRuntime, type Rule } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DecisionBudget } from '../../src/policy/decision-budget.js';
import { TinyServer, toolNamed } from './tiny-server.js';

const ALLOW: Rule = { action: 'allow', arguments: { path: '/home/**' } };
const DEEP: Rule = { action: 'allow', arguments: { 'options.files[*].file_path': '/home/**' } };
const DENY: Rule = { action: 'deny', arguments: { path: '/etc/**' } };
const REST: Rule = { action: 'allow' };
const IN = '/home/me/x';
const OUT = '/etc/passwd';

const deep = (file: object) => ({ options: { files: [file] } });

const TABLE: ReadonlyArray<readonly [string, readonly Rule[], Record<string, unknown>, boolean]> = [
  ['one spelling', [ALLOW], { path: IN }, true],
  ['other arguments', [ALLOW], { path: IN, text: 'x', paths: 'x' }, true],
  ['upper case', [ALLOW], { path: IN, PATH: OUT }, false],
  ['upper case first', [ALLOW], { Path: OUT, path: IN }, false],
  ['only upper case', [ALLOW], { PATH: IN }, false],
  ['a separator', [ALLOW], { path: IN, pa_th: OUT }, false],
  ['another width', [ALLOW], { path: IN, '\uff50ath': OUT }, false],
  ['an invisible character', [ALLOW], { path: IN, 'pa\u200bth': OUT }, false],
  ['a space', [ALLOW], { path: IN, ' path ': OUT }, false],
  [
    'camel case',
    [{ action: 'allow', arguments: { file_path: '/home/**' } }],
    { file_path: IN, filePath: OUT },
    false,
  ],
  ['a long s', [{ action: 'allow', arguments: { dest: '/home/**' } }], { dest: IN, 'de\u017ft': OUT }, false],
  ['nested', [DEEP], deep({ file_path: IN }), true],
  ['nested, the last key', [DEEP], deep({ file_path: IN, 'file-path': OUT }), false],
  ['nested, a key before', [DEEP], { ...deep({ file_path: IN }), Options: deep({ file_path: OUT }) }, false],
  ['a deny for the other spelling', [DENY, REST], { path: IN, PATH: OUT }, false],
  ['a deny for the only spelling', [DENY, REST], { PATH: OUT }, false],
  ['a deny for neither', [DENY, REST], { path: IN, PATH: IN }, true],
  ['an ask for the other spelling', [{ ...DENY, action: 'ask' }, REST], { path: IN, Path: OUT }, false],
  ['a rule without arguments', [REST], { path: IN, PATH: OUT }, true],
];

// requirement P2
describe('the arguments of a call', () => {
  it.each(TABLE)('%s', async (_what, rules, args, isSent) => {
    const server = new TinyServer([toolNamed('write')]);
    const runtime = await createRuntime({ pins: 'off', servers: { one: server.config() }, rules });
    onTestFinished(() => runtime.close());
    await runtime.connectAll();
    const caller = { id: 'agent', capabilities: ['mcp_integration'] };
    const called = await runtime.callTool('one', 'write', args, { caller }).then(
      () => 'sent',
      (thrown) => thrown.code,
    );
    if (isSent) expect(called).toBe('sent');
    else expect(called).toMatch(/^CALL_DENIED$|^APPROVAL_/);
    await runtime.execute('mcp__one__write', args, { caller });
    expect(server.calls).toHaveLength(isSent ? 2 : 0);
  });
});

it('a call with very many keys is decided within the budget, as strictly as possible', () => {
  const args = Object.fromEntries(Array.from({ length: 1_000_000 }, (_, at) => [`key${at}`, 1]));
  const work = new DecisionBudget();
  expect(work.otherSpellings(args, 'key1')).toBeUndefined();
  expect(work.spent).toBeLessThan(10_000_000);
});
