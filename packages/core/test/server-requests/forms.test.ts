import { describe, expect, it } from 'vitest';
import { checkRoots } from '../../src/connection/server-requests/check-answer.js';
import type {
  ElicitationRequest,
  ServerRequestAnswers,
} from '../../src/connection/server-requests/host-requests.js';
import {
  DEFAULT_REQUEST_LIMITS,
  RequestGuard,
  type RequestLimits,
} from '../../src/connection/server-requests/request-guard.js';
import { Events, type RuntimeEvents } from '../../src/events.js';
import { form } from './asked.js';

function guardWith(answers: ServerRequestAnswers, limits: Partial<RequestLimits> = {}) {
  const events = new Events();
  const told: RuntimeEvents['server.asked'][] = [];
  events.on('server.asked', (event) => told.push(event));
  const guard = new RequestGuard({
    server: 'asker',
    answers,
    callersCanAnswer: false,
    mayAsk: undefined,
    limits: { ...DEFAULT_REQUEST_LIMITS, askBurst: 1_000, ...limits },
    events,
    now: Date.now,
  });
  return { guard, told };
}

/** The form as the host sees it, or why it does not see it. */
async function seenOf(params: Readonly<Record<string, unknown>>): Promise<ElicitationRequest | string> {
  let seen: ElicitationRequest | undefined;
  const { guard } = guardWith({
    elicitation: (request) => {
      seen = request;
      return { action: 'decline' };
    },
  });
  const outcome = await guard.answer('elicitation', params);
  return seen ?? (outcome.result === undefined ? outcome.reason : '');
}

const string = { type: 'string' };

describe('a form', () => {
  it('keeps the fields that the protocol knows, and nothing else', async () => {
    const fields = {
      text: {
        type: 'string',
        title: 'T',
        minLength: 1,
        format: 'email',
        default: 'a@b',
        pattern: '(a+)+',
        onclick: 'x',
      },
      odd: { type: 'string', format: 'binary' },
      count: { type: 'integer', minimum: 1, maximum: 5, default: 'three', multipleOf: 2 },
      yes: { type: 'boolean', default: true },
      one: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      named: { type: 'string', oneOf: [{ const: 'a', title: 'A', extra: 1 }] },
      some: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2, default: ['a'] },
      titled: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    };
    const seen = await seenOf({
      ...form(fields),
      requestedSchema: { ...form(fields).requestedSchema, $ref: '#/x', required: ['text', 7] },
    });
    expect(seen).toMatchObject({
      server: 'asker',
      mode: 'form',
      requestedSchema: {
        type: 'object',
        required: ['text'],
        properties: {
          text: { type: 'string', minLength: 1, format: 'email', default: 'a@b', title: 'T' },
          odd: { type: 'string' },
          count: { type: 'integer', minimum: 1, maximum: 5 },
          yes: { type: 'boolean', default: true },
          one: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
          named: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
          some: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2, default: ['a'] },
          titled: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
        },
      },
    });
    expect(JSON.stringify(seen)).not.toMatch(/pattern|onclick|binary|multipleOf|extra|\$ref/);
  });

  it.each([
    ['an object inside', form({ a: { type: 'object', properties: {} } })],
    ['a list without choices', form({ a: { type: 'array', items: { type: 'object' } } })],
    ['an invalid type', form({ a: { type: 'file' } })],
    ['a reference', form({ a: { $ref: '#/a' } })],
    ['no form', { message: 'x' }],
    ['no message', { requestedSchema: form({}).requestedSchema }],
    ['another mode', { ...form({}), mode: 'video' }],
    [
      'too many fields',
      form(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, string]))),
    ],
    ['too many options', form({ a: { type: 'string', enum: Array.from({ length: 201 }, String) } })],
    ['options that are not strings', form({ a: { type: 'string', enum: [{}] } })],
    ['a long description', form({ a: { type: 'string', description: 'x'.repeat(1_001) } })],
    ['a long message', form({ a: string }, 'x'.repeat(4_001))],
    ['a long name', form({ ['x'.repeat(129)]: string })],
    ['many large fields', form({ a: { type: 'string', x: 'x'.repeat(300_000) } })],
  ])('with %s is refused', async (_, params) => expect(await seenOf(params)).toEqual(expect.any(String)));

  it.each([
    ['its name', form({ apiKey: string })],
    ['its title', form({ a: { type: 'string', title: 'Your passphrase' } })],
    ['its description', form({ a: { type: 'string', description: 'the OTP from your phone' } })],
    ['its format', form({ a: { type: 'string', format: 'password' } })],
    ['a word of another language', form({ a: { type: 'string', title: 'Пароль' } })],
    ['a disguised word', form({ a: { type: 'string', title: 'P4ss\u200bw\u043erd' } })],
    ['a field for digits', form({ a: { type: 'integer', title: 'Card number' } })],
    ['the message above it', form({ a: string }, 'Please enter your GitHub token')],
    ['writeOnly', form({ a: { type: 'string', writeOnly: true } })],
    ['one field among many', form({ name: string, city: string, cvv: { type: 'number' } })],
  ])('that asks for a secret by %s is refused', async (_, params) =>
    expect(await seenOf(params)).toEqual(expect.any(String)),
  );

  it.each([
    [
      'a yes/no question about a secret',
      form({ rotate: { type: 'boolean', title: 'Rotate the API key?' } }, 'Rotate the API key?'),
    ],
    ['a choice between secrets', form({ a: { type: 'string', title: 'Token', enum: ['first', 'second'] } })],
    ['a number of tokens', form({ maxTokens: { type: 'integer' } })],
  ])('with %s is not', async (_, params) => expect(await seenOf(params)).toMatchObject({ mode: 'form' }));
});

describe('an address', () => {
  const at = (url: unknown) => seenOf({ mode: 'url', message: 'Sign in', url, elicitationId: 'x' });

  it.each([
    ['https://example.com/a?b=c', 'https://example.com/a?b=c', 'example.com'],
    ['https://example.com:8443/', 'https://example.com:8443/', 'example.com:8443'],
    ['https://xn--e1awd7f.com/', 'https://xn--e1awd7f.com/', 'xn--e1awd7f.com'],
    ['http://localhost:3000/x', 'http://localhost:3000/x', 'localhost:3000'],
    ['http://127.1:80/', 'http://127.0.0.1/', '127.0.0.1'],
    ['http://[::1]/', 'http://[::1]/', '[::1]'],
  ])('%s is shown with its host', async (given, url, host) =>
    expect(await at(given)).toMatchObject({ mode: 'url', url, host, server: 'asker' }),
  );

  it.each([
    'http://example.com/',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ms-msdt:/id',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://good.example\\@evil.example/',
    'https://exa mple.com/',
    'https://example.com/\u202egnp',
    'https://\u0435xample.com/',
    'https://example.com/\u001b[2J',
    'not an address',
    '',
    7,
    `https://example.com/${'x'.repeat(5_000)}`,
  ])('%j is refused', async (url) => expect(await at(url)).toEqual(expect.any(String)));
});

describe('a sampling request', () => {
  const text = { role: 'user', content: { type: 'text', text: 'Hi' } };
  const sample = async (params: Readonly<Record<string, unknown>>) => {
    const { guard } = guardWith({
      sampling: () => ({ role: 'assistant', content: { type: 'text', text: 'ok' }, model: 'm' }),
    });
    return guard.answer('sampling', params);
  };

  it.each([
    ['no messages', { messages: [], maxTokens: 1 }],
    ['too many messages', { messages: Array.from({ length: 51 }, () => text), maxTokens: 1 }],
    ['too much text', { messages: [{ role: 'user', content: { type: 'text', text: 'x'.repeat(300_000) } }] }],
    ['another role', { messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] }],
    ['another content', { messages: [{ role: 'user', content: { type: 'tool_result', text: 'x' } }] }],
    ['tools', { messages: [text], maxTokens: 1, tools: [] }],
    ['a prompt that is not a string', { messages: [text], maxTokens: 1, systemPrompt: {} }],
  ])('with %s is refused', async (_, params) =>
    expect(await sample(params)).toMatchObject({ outcome: 'refused' }),
  );

  it.each([
    [{ messages: [text] }],
    [{ messages: [{ role: 'user', content: [text.content] }], maxTokens: -5 }],
  ])('%j is passed on', async (params) =>
    expect(await sample(params)).toMatchObject({ outcome: 'answered' }),
  );
});

describe("the host's answer", () => {
  const fields = form({
    name: { type: 'string', default: 'nobody' },
    age: { type: 'integer' },
    color: { type: 'string', enum: ['red', 'blue'] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
  });
  const answered = async (answer: unknown) => {
    const { guard, told } = guardWith({ elicitation: () => answer as never });
    return { outcome: await guard.answer('elicitation', fields), told };
  };

  it('uses the defaults for missing fields, and omits fields that were not requested', async () => {
    const { outcome } = await answered({
      action: 'accept',
      content: { age: 3, home: '/home/ada', __proto__: 1 },
      _meta: {},
    });
    expect(outcome).toEqual({
      outcome: 'answered',
      result: { action: 'accept', content: { name: 'nobody', age: 3 } },
    });
  });

  it.each(['decline', 'cancel'])('%s has no content', async (action) => {
    const { outcome, told } = await answered({ action, content: { name: 'Ada' } });
    expect(outcome).toEqual({ outcome: 'declined', result: { action } });
    expect(told).toMatchObject([{ outcome: 'declined' }]);
  });

  it.each([
    [undefined],
    [{ action: 'yes' }],
    [{ action: 'accept', content: { name: 7 } }],
    [{ action: 'accept', content: { age: 1.5 } }],
    [{ action: 'accept', content: { color: 'green' } }],
    [{ action: 'accept', content: { tags: ['c'] } }],
  ])('%j is not sent', async (answer) => {
    const { outcome, told } = await answered(answer);
    expect(outcome).toEqual({ outcome: 'failed', reason: 'the host failed to respond' });
    expect(told).toMatchObject([{ outcome: 'failed', reason: expect.stringContaining('host') }]);
  });

  it('is not sent if it contains a secret', async () => {
    const { outcome, told } = await answered({
      action: 'accept',
      content: { name: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' },
    });
    expect(outcome).toEqual({
      outcome: 'refused',
      reason: 'a value in the form looks like a GitHub token',
    });
    expect(JSON.stringify(told)).not.toContain('ghp_');
  });

  it.each([
    ['file:///home/ada', 'file:///home/ada'],
    ['file:///home/ada/../bob', 'file:///home/bob'],
    ['file://localhost/tmp', 'file:///tmp'],
    ['file:///a%2fb', undefined],
    ['file://server/share', undefined],
    ['file:///tmp?x', undefined],
    ['http://localhost/', undefined],
    ['/tmp', undefined],
    [7, undefined],
  ])('of roots: %j becomes %j', (uri, expected) =>
    expect(checkRoots({ roots: [{ uri }] })).toEqual(
      expected === undefined
        ? { own: true, reason: expect.any(String) }
        : { result: { roots: [{ uri: expected }] } },
    ),
  );
});

describe('concurrent requests', () => {
  it('are passed on one at a time, in order, and only a limited number waits', async () => {
    const steps: string[] = [];
    let count = 0;
    const { guard, told } = guardWith(
      {
        elicitation: async () => {
          count += 1;
          const mine = count;
          steps.push(`begin ${mine}`);
          await new Promise((resolve) => setTimeout(resolve, 5));
          steps.push(`end ${mine}`);
          return { action: 'decline' };
        },
      },
      { maxQueuedAsks: 2 },
    );
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => guard.answer('elicitation', form({ a: string }))),
    );
    expect(steps).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'declined',
      'declined',
      'declined',
      'limited',
      'limited',
    ]);
    expect(told).toHaveLength(5);
  });

  it('wait for a host that continues after its timeout', async () => {
    let open = 0;
    let most = 0;
    const { guard } = guardWith(
      {
        elicitation: async () => {
          open += 1;
          most = Math.max(most, open);
          await new Promise((resolve) => setTimeout(resolve, 60));
          open -= 1;
          return { action: 'decline' };
        },
      },
      { askTimeoutMs: 20 },
    );
    await guard.answer('elicitation', form({ a: string }));
    await guard.answer('elicitation', form({ a: string }));
    await guard.answer('elicitation', form({ a: string }));
    expect(most).toBe(1);
  });

  it('are not passed on if they are no longer pending', async () => {
    let seen = 0;
    const { guard, told } = guardWith({
      elicitation: () => {
        seen += 1;
        return { action: 'decline' };
      },
    });
    await guard.answer('elicitation', form({ a: string }), { signal: AbortSignal.abort() });
    expect(seen).toBe(0);
    expect(told).toMatchObject([{ outcome: 'failed', reason: 'the request was cancelled' }]);
  });
});
