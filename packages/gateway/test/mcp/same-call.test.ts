/** An approval is valid for the call that sends the same bytes to the server, and for no other. */
import { fileURLToPath } from 'node:url';
import type { ServerInput } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialize, send } from './raw-client.js';
import { type Era, openStand, type Stand } from './stand.js';

const PROGRAM = fileURLToPath(new URL('echo-raw.mjs', import.meta.url));
const echo: ServerInput = { command: process.execPath, args: [PROGRAM, 'stdio', 'legacy'] };
const ELEVEN = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
const TWELVE = `00-${'c3'.repeat(16)}-${'d4'.repeat(8)}-00`;

let stand: Stand;
let session: string;
beforeAll(async () => {
  stand = await openStand({
    servers: { seen: echo, asked: echo },
    options: { approvals: 'queue', approvalWaitMs: 1, rules: [{ action: 'ask', server: 'asked' }] },
  });
  session = await initialize(stand);
});
afterAll(() => stand.close());

/** JSON texts; undefined: absent. */
interface Texts {
  readonly args: string;
  readonly meta?: string | undefined;
  readonly task?: string | undefined;
}

const MODERN_META =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';

/** What the server received; undefined if it was not approved. */
async function call(server: 'seen' | 'asked', era: Era, texts: Texts): Promise<string | undefined> {
  const { args, meta, task } = texts;
  const members = [era === 'modern' ? MODERN_META : '', meta ?? ''].filter((text) => text !== '').join(',');
  const name = `${server}_raw`;
  const body = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"${name}","arguments":${args}${
    members === '' ? '' : `,"_meta":{${members}}`
  }${task === undefined ? '' : `,"task":${task}`}}}`;
  const headers =
    era === 'modern'
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
      : { 'mcp-session-id': session };
  const answer = await send(stand, body, { headers });
  const { isError, content, _meta } = answer.body.result as {
    isError?: boolean;
    content: [{ text: string }];
    _meta?: Record<string, { code?: string }>;
  };
  if (isError !== true) return content[0].text.replace(/"(?:id|progressToken)":\d+,?/g, '');
  expect(_meta?.['turnbuckle/error']?.code).toBe('APPROVAL_PENDING');
  return undefined;
}

/** Whether an approval of the first call lets the second run. */
async function holds(era: Era, first: Texts, second: Texts): Promise<boolean> {
  const { approvals } = stand.runtime;
  const approveAll = (): void => {
    for (const { id } of approvals.pending()) approvals.answer(id, 'once');
  };
  /** Unlike an answer, this leaves nothing for a repetition of the call. */
  const abandonAll = (): void => {
    for (const { id } of approvals.pending()) approvals.abandon(id);
  };
  expect(await call('asked', era, first)).toBeUndefined();
  approveAll();
  const ran = await call('asked', era, second);
  abandonAll();
  // It is valid for one call: nothing remains for the next pair.
  if (ran === undefined) expect(await call('asked', era, first)).toBeDefined();
  expect(await call('asked', era, first)).toBeUndefined();
  abandonAll();
  return ran !== undefined;
}

const NUMBERS = [
  ...[
    '0',
    '-0',
    '0.0',
    '1',
    '1.0',
    '1e0',
    '1E0',
    '10e-1',
    '-1',
    '0.1',
    '0.10',
    '1e20',
    '100000000000000000000',
  ],
  ...['9007199254740992', '9007199254740993', '90071992547409931', '90071992547409932', '1e400', '1e-400'],
];
const TEXTS = [
  '""',
  '"1"',
  '"\\u00e9"',
  '"é"',
  '"e\u0301"',
  '"\\ud800"',
  '"\\ud801"',
  '"\\ufdd31"',
  'null',
  'true',
  '[]',
  '{}',
];
const KEYS = [
  '"n"',
  '"N"',
  '"n "',
  '"\\u006e1"',
  '"é"',
  '"e\u0301"',
  '"__proto__"',
  '"constructor"',
  '"0"',
  '"1"',
  '"toJSON"',
];

/** The same seed gives the same numbers. */
function dice(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
}

type Node = string | { readonly list: Node[] } | { readonly members: Array<[key: string, value: Node]> };
type Roll = (max: number) => number;

const pick = <Item>(items: readonly Item[], roll: Roll): Item => items[roll(items.length)] as Item;

function draw(roll: Roll, depth: number): Node {
  const kind = depth === 0 ? 2 : roll(depth > 4 ? 2 : 5);
  if (depth > 0 && kind < 2) return pick(roll(2) === 0 ? NUMBERS : TEXTS, roll);
  const count = 1 + roll(3);
  if (kind === 4) return { list: Array.from({ length: count }, () => draw(roll, depth + 1)) };
  const keys = new Set(Array.from({ length: count }, () => pick(KEYS, roll)));
  return { members: [...keys].map((key) => [key, draw(roll, depth + 1)]) };
}

function write(node: Node): string {
  if (typeof node === 'string') return node;
  if ('list' in node) return `[${node.list.map(write).join(',')}]`;
  return `{${node.members.map(([key, value]) => `${key}:${write(value)}`).join(',')}}`;
}

/** A copy with at most one change. */
function change(node: Node, roll: Roll): Node {
  if (typeof node === 'string') {
    if (roll(4) === 0) return node;
    return pick(NUMBERS.includes(node) ? NUMBERS : TEXTS, roll);
  }
  if ('list' in node) {
    const at = roll(node.list.length);
    return { list: node.list.map((one, index) => (index === at ? change(one, roll) : one)) };
  }
  if (roll(6) === 0) return { members: [...node.members].reverse() };
  const at = roll(node.members.length);
  return {
    members: node.members.map(([key, one], index) => [key, index === at ? change(one, roll) : one]),
  };
}

describe.each(['legacy', 'modern'] as const)('an approval of a call of a %s client', (era) => {
  it.each([
    ['{"n":90071992547409931}', '{"n":90071992547409932}'],
    ['{"n":0}', '{"n":-0}'],
    ['{"n":1}', '{"n":1.0}'],
    ['{"n":[[[[[90071992547409931]]]]]}', '{"n":[[[[[90071992547409932]]]]]}'],
    ['{"a":null}', '{}'],
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
  ])('approves %s and not %s', async (one, other) => {
    expect(await holds(era, { args: one }, { args: other })).toBe(false);
    expect(await holds(era, { args: other }, { args: one })).toBe(false);
    expect(await holds(era, { args: other }, { args: other })).toBe(true);
  });

  it.each([
    [undefined, '"evil/x":"rm -rf"', false],
    ['"evil/x":90071992547409931', '"evil/x":90071992547409932', false],
    ['"evil/x":1', '"evil/y":1', false],
    [undefined, '"evil/x":null', false],
    [undefined, '"baggage":"a=b"', false],
    [undefined, '"traceparent":"rm -rf"', false],
    [undefined, '"tracestate":"run rm -rf"', false],
    [undefined, '"tracestate":{"a":1}', false],
    [undefined, '"io.modelcontextprotocol/logLevel":"rm -rf"', false],
    [undefined, '"io.modelcontextprotocol/related-task":{"taskId":"1"}', false],
    ['"progressToken":1', '"progressToken":2', true],
    [`"traceparent":"${ELEVEN}"`, `"traceparent":"${TWELVE}"`, true],
    ['"tracestate":"dd=s:1;p:00f067aa0ba902b7"', '"tracestate":"dd=s:1;p:10f067aa0ba902b8,x@y=1"', true],
    [undefined, '"io.modelcontextprotocol/logLevel":"debug"', true],
    [`"a/b":1.0,"traceparent":"${ELEVEN}"`, `"traceparent":"${TWELVE}","a/b":1.0`, true],
  ])('with the _meta {%s} and then {%s}: %s', async (one, other, expected) => {
    expect(await holds(era, { args: '{}', meta: one }, { args: '{}', meta: other })).toBe(expected);
    expect(await holds(era, { args: '{}', meta: other }, { args: '{}', meta: one })).toBe(expected);
  });

  it('is valid for the same bytes, whatever the JSON, and for no others', async () => {
    const counts = { same: 0, other: 0 };
    for (let seed = 1; seed <= 120; seed += 1) {
      const roll = dice(seed * 7_919);
      const parts = { args: draw(roll, 0), meta: draw(roll, 0), task: draw(roll, 0) };
      const where = pick(['args', 'meta', 'task'] as const, roll);
      const others = { ...parts, [where]: change(parts[where], roll) };
      const [first, second] = [parts, others].map(({ args, meta, task }) => ({
        args: write(args),
        meta: seed % 2 === 0 ? undefined : `"x/y":${write(meta)}`,
        task: seed % 3 === 0 ? undefined : write(task),
      })) as [Texts, Texts];
      const isSame = (await call('seen', era, first)) === (await call('seen', era, second));
      counts[isSame ? 'same' : 'other'] += 1;
      expect([await holds(era, first, second), first, second]).toEqual([isSame, first, second]);
    }
    expect(Math.min(counts.same, counts.other)).toBeGreaterThan(15);
  });

  it('shows the exact digits of everything that is sent', async () => {
    await call('asked', era, {
      args: '{"n":90071992547409931}',
      meta: '"a/b":90071992547409932',
      task: '{"ttl":90071992547409933}',
    });
    const [question] = stand.runtime.approvals.pending();
    expect(question).toMatchObject({
      arguments: { n: '90071992547409931' },
      alsoSent: { _meta: { 'a/b': '90071992547409932' }, task: { ttl: '90071992547409933' } },
    });
    stand.runtime.approvals.abandon(String(question?.id));
  });
});
