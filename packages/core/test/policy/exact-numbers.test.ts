/** Rules compare, and approvals show, the exact number that is sent. */
import { temporaryDirectory } from '@turnbuckle/testing';
import { type ApprovalRequest, createRuntime, type Rule, type RuntimeOptions } from 'turnbuckle';
import { parseLossless } from 'turnbuckle/host';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());
const caller = { id: 'agent', capabilities: ['mcp_integration'] };
const read = (text: string): Record<string, unknown> => parseLossless(text) as Record<string, unknown>;

async function open(options: RuntimeOptions) {
  const server = new TinyServer([toolNamed('pay')]);
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    servers: { bank: server.config() },
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  return { runtime, server };
}

const decided = async (rule: Omit<Rule, 'tool'>, args: string): Promise<string> => {
  const { runtime } = await open({
    rules: [rule],
    defaultDecision: rule.action === 'allow' ? 'deny' : 'allow',
  });
  return runtime.decide({ server: 'bank', tool: 'pay', arguments: read(args), caller }).action;
};

describe('a rule about a number', () => {
  // 90071992547409931 becomes …940 in JavaScript, 9007199254740993 becomes …992.
  it.each([
    ['allow', { lessThan: 9007199254740992 }, '{"amount":9007199254740993}', 'deny'],
    ['allow', { lessThan: 90071992547409936 }, '{"amount":90071992547409931}', 'allow'],
    ['allow', { equals: 90071992547409940 }, '{"amount":90071992547409931}', 'deny'],
    ['allow', '90071992547409940', '{"amount":90071992547409931}', 'deny'],
    ['allow', '90071992547409931', '{"amount":90071992547409931}', 'allow'],
    ['allow', { lessThan: 100 }, '{"amount":1e400}', 'deny'],
    ['allow', { greaterThan: 100 }, '{"amount":1e400}', 'allow'],
    ['allow', { equals: 1 }, '{"amount":1.0}', 'allow'],
    ['deny', { equals: 90071992547409940 }, '{"amount":90071992547409931}', 'deny'],
    ['deny', '90071992547409931', '{"amount":90071992547409931}', 'deny'],
    ['deny', { greaterThan: 90071992547409920 }, '{"amount":[{"deep":90071992547409931}]}', 'deny'],
    ['deny', { greaterThan: 1e300 }, '{"amount":1e400}', 'deny'],
    ['deny', { lessThan: 90071992547409936 }, '{"amount":"90071992547409931"}', 'deny'],
    ['deny', { lessThan: 100 }, '{"amount":99.99999999999999999999}', 'deny'],
    // What a lenient server makes of a text.
    ...[
      ' 900',
      '9_0_0',
      '\uff19\uff10\uff10',
      '\u0669\u0660\u0660',
      '\u001f900',
      'inf',
      '+Infinity',
      '9e2',
    ].map((text) => ['deny', { greaterThan: 100 }, JSON.stringify({ amount: text }), 'deny'] as const),
    ['deny', { greaterThan: 100 }, JSON.stringify({ amount: `${'0'.repeat(2_000)}9_00` }), 'deny'],
    ['deny', { lessThan: 0 }, '{"amount":"-inf"}', 'deny'],
    ['deny', { greaterThan: 100 }, '{"amount":"-inf"}', 'allow'],
    ['deny', { greaterThan: 100, lessThan: 1000 }, '{"amount":"inf"}', 'allow'],
    ['deny', { greaterThan: 100 }, '{"amount":"9_9"}', 'allow'],
    ['deny', { greaterThan: 100 }, '{"amount":"information about 900 days"}', 'allow'],
    ['allow', { greaterThan: 100 }, '{"amount":"900"}', 'deny'],
  ] as const)('%s %j for %s: %s', async (action, amount, args, expected) => {
    expect(await decided({ action, arguments: { amount } }, args)).toBe(expected);
  });
});

it('an approval request shows the exact number that is sent', async () => {
  const asked: ApprovalRequest[] = [];
  const { runtime, server } = await open({
    approve: (request) => {
      asked.push(request);
      return 'once';
    },
  });
  const args = '{"amount":90071992547409931,"rate":1.0,"huge":1e400,"list":[12345678901234567890]}';
  await runtime.callTool('bank', 'pay', read(args), { caller });
  expect(asked[0]?.arguments).toEqual({
    amount: '90071992547409931',
    rate: 1,
    huge: '1e400',
    list: ['12345678901234567890'],
  });
  expect(JSON.parse(JSON.stringify(asked[0]))).toEqual(asked[0]);
  expect(server.calls).toEqual(['pay']);
});
