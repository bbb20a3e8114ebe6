/** What an agent answers in the middle of a call is searched for secrets like the call, between clients and servers of both eras. */
import type { Client } from '@modelcontextprotocol/client';
import type { Rule } from 'turnbuckle';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connectHttp,
  connectStreams,
  createClient,
  type Era,
  openStand,
  type Stand,
  upstream,
  type Way,
} from './stand.js';

const KNOWN = 'zebraquartzlampshade77';
const LOOKS = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const WAYS: readonly Way[] = ['stdio', 'http'];
const PAIRS = ERAS.flatMap((clientEra) =>
  ERAS.flatMap((serverEra) =>
    WAYS.flatMap((clientWay) => WAYS.map((serverWay) => ({ clientEra, clientWay, serverEra, serverWay }))),
  ),
);

const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Opened {
  readonly client: Client;
  readonly stand: Stand;
  /** What the agent answers next. */
  word: string;
}

async function open({ clientEra, clientWay, serverEra, serverWay }: (typeof PAIRS)[number]): Promise<Opened> {
  const up = await upstream('asking', { era: serverEra, way: serverWay });
  ends.push(() => up.stop());
  const stand = await openStand({
    servers: { up: up.config },
    views: { plain: { names: 'plain' } },
    options: {
      resolve: async (_name, config, learn) => {
        learn(KNOWN);
        return config;
      },
    },
  });
  ends.push(() => stand.close());
  const options = {
    era: clientEra,
    path: '/mcp/plain',
    capabilities: { elicitation: { form: {} }, sampling: {} },
  };
  const client = createClient(options);
  const opened = { client, stand, word: '' };
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept' as const,
    content: { name: opened.word },
  }));
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant' as const,
    model: 'm',
    content: { type: 'text' as const, text: `It is ${opened.word}.` },
  }));
  if (clientWay === 'http') await connectHttp(stand, client, options);
  else await connectStreams(stand, client, 'plain');
  ends.push(() => client.close());
  return opened;
}

const FORM = {
  kind: 'elicitation',
  params: {
    message: 'Who?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  },
};
const MODEL = {
  kind: 'sampling',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }], maxTokens: 10 },
};

const said = (result: unknown): string => JSON.stringify(result);

describe.each(PAIRS)('$clientEra client over $clientWay, $serverEra server over $serverWay', (pair) => {
  it('no answer with a secret is sent, by default or by a rule, and the call is denied', async () => {
    const opened = await open(pair);
    const rules = (...all: Rule[]): void =>
      opened.stand.runtime.setRules(all.map((rule, position) => ({ rule, from: 'user' as const, position })));
    const settled: string[] = [];
    opened.stand.runtime.on('call.settled', ({ tool, decision, error }) => {
      if (tool === 'ask') settled.push(`${decision} ${error?.code}`);
    });
    const ask = async (word: string, question: object): Promise<string> => {
      opened.word = word;
      const call = opened.client.callTool({ name: 'ask', arguments: { ...question } });
      return call.then(said, (error: unknown) => String(error));
    };
    for (const question of [FORM, MODEL]) {
      rules({ action: 'allow' });
      expect(await ask(KNOWN, question)).toMatch(/denied.*known secret/);
      expect(await ask('plainwords', question)).toContain('plainwords');
    }
    // What looks like a secret is never sent in a form; in other answers a rule decides.
    for (const action of ['deny', 'ask'] as const) {
      rules({ action, secrets: true }, { action: 'allow' });
      expect(await ask(LOOKS, MODEL)).toMatch(/denied|requires approval/);
      expect(await ask('plainwords', MODEL)).toContain('plainwords');
    }
    rules({ action: 'allow' });
    expect(await ask(LOOKS, MODEL)).toContain(LOOKS);
    const seen = said(await opened.client.callTool({ name: 'answered', arguments: {} }));
    expect(seen).not.toContain(KNOWN);
    expect(seen.split(LOOKS)).toHaveLength(2);
    expect(settled.filter((one) => /^(deny|ask) (CALL_DENIED|APPROVAL_NEEDED)$/.test(one))).toHaveLength(4);
  });
});
