/** Patterns, schemas and templates of servers that would take forever to evaluate: the daemon is not blocked. */
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';
import { openUpstream, type Upstream } from './upstream.js';

const PATTERNS = [
  '^(a+)+$',
  '(a*)*b',
  '^(a|aa)+$',
  '(?:a?a?){30}b',
  '^(\\w+\\s?)*$',
  '(.*)*=',
  '^(?=(a+))\\1+$',
];
const LONG = `${'a'.repeat(60)}!`;

const withValue = (value: object, more: object = {}): object => ({
  type: 'object',
  properties: { value },
  ...more,
});

/** Each level refers to the next one twice. */
function doubling(): object {
  const levels = Array.from({ length: 40 }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { anyOf: [next, { allOf: [next] }] }];
  });
  return withValue(
    { $ref: '#/$defs/d0' },
    { $defs: { ...Object.fromEntries(levels), d40: { type: 'string' } } },
  );
}

function choices(): object {
  const anyOf = Array.from({ length: 8 }, () => ({ properties: { next: { $ref: '#/$defs/node' } } }));
  return withValue({ $ref: '#/$defs/node' }, { $defs: { node: { type: 'object', anyOf } } });
}

let deep: object = { next: 5 };
for (let level = 0; level < 30; level += 1) deep = { next: deep };

const SCHEMAS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    PATTERNS.map((pattern, index) => [`pattern_${index}`, withValue({ type: 'string', pattern })]),
  ),
  ...Object.fromEntries(
    PATTERNS.map((pattern, index) => [
      `keys_${index}`,
      { type: 'object', patternProperties: { [pattern]: { type: 'string' } } },
    ]),
  ),
  doubling: doubling(),
  choices: choices(),
  loop: withValue({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
};
const ARGUMENTS: Readonly<Record<string, object>> = {
  doubling: { value: 5 },
  choices: { value: deep },
  loop: { value: 5 },
};

/** The result: the same schemas validate it. */
const result = ({ name }: Readonly<Record<string, unknown>>): object => ({
  content: [],
  structuredContent: ARGUMENTS[String(name).replace('out_', '')] ?? { value: LONG, [LONG]: 5 },
});

const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const ADDRESS = 'a'.repeat(1_000_000);
const TEMPLATES = Array.from({ length: 1_000 }, (_, index) => ({
  name: `template ${index}`,
  // Ends that fit nearly everywhere, and brackets that never close.
  uriTemplate: index % 2 === 0 ? `{a}${'a'.repeat(1_000)}b${index}` : `${'{'.repeat(1_900)}${index}`,
}));

let up: Upstream;
let daemon: ChildDaemon;
beforeAll(async () => {
  const inputs = Object.entries(SCHEMAS).map(([name, inputSchema]) => ({ name, inputSchema }));
  const outputs = Object.entries(SCHEMAS).map(([name, outputSchema]) => ({
    name: `out_${name}`,
    inputSchema: { type: 'object' },
    outputSchema,
  }));
  up = await openUpstream({
    tools: [...inputs, ...outputs],
    answers: {
      'tools/call': result,
      'resources/templates/list': () => ({ resourceTemplates: TEMPLATES }),
    },
  });
  daemon = await childDaemon({ servers: { up: { url: up.url }, healthy: fixture('echo') } });
  await daemon.call('healthy', 'echo', { text: 'warm' });
});
afterAll(async () => {
  await daemon.remove();
  await up.close();
});

/** A blocked daemon responds to no request, and the test ends by its timeout. */
async function expectHealthy(): Promise<void> {
  expect(await daemon.call('healthy', 'echo', { text: 'meanwhile' })).toMatchObject({ success: true });
}

const hostileCalls = (name: string): Array<Promise<Record<string, unknown>>> => {
  const args = ARGUMENTS[name] ?? (name.startsWith('keys') ? { [LONG]: 'x' } : { value: LONG });
  return [daemon.call('up', name, args), daemon.call('up', `out_${name}`)];
};

function post(message: object, session?: Headers): Promise<Response> {
  const id = session?.get('mcp-session-id');
  return daemon.fetch('/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', ...(id && { 'mcp-session-id': id }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
}

describe('others are served', () => {
  it.each([
    ['pattern', 'patterns that backtrack'],
    ['keys', 'patterns of keys that backtrack'],
    ['choices', 'choices that multiply with the depth of the data'],
  ])('while a schema has %s: %s', async (prefix) => {
    const names = Object.keys(SCHEMAS).filter((name) => name.startsWith(prefix));
    const hostile = names.flatMap(hostileCalls);
    await expectHealthy();
    expect((await Promise.all(hostile)).length).toBe(names.length * 2);
    await expectHealthy();
  });

  it.each(['doubling', 'loop'])('while a schema refers to itself: %s', async (name) => {
    const hostile = Promise.all(hostileCalls(name));
    await expectHealthy();
    expect((await hostile)[0]).toMatchObject({ success: false, code: 'SCHEMA_UNUSABLE' });
  });

  it('while a URI is compared with a thousand templates', async () => {
    const session = await post({ method: 'initialize', params: CLIENT });
    const read = post({ method: 'resources/read', params: { uri: ADDRESS } }, session.headers);
    await expectHealthy();
    expect((await read).status).toBeLessThan(500);
  });
});
