import { afterEach, describe, expect, it } from 'vitest';
import { type Asked, form, openAsked, WAYS } from './asked.js';

let asked: Asked | undefined;
afterEach(async () => {
  await asked?.close();
  asked = undefined;
});

const open = async (...args: Parameters<typeof openAsked>): Promise<Asked> => {
  asked = await openAsked(...args);
  return asked;
};

const NAME = form({ name: { type: 'string' } });
const ADA = { action: 'accept', content: { name: 'Ada' } } as const;
const SAMPLE = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 };

// requirement T9
describe.each(WAYS)('$title', (way) => {
  const isOld = way.era === 'legacy';

  it('is offered only what the host answers and the configuration allows', async () => {
    const handlers = { elicitation: () => ADA, roots: () => ({ roots: [] }) };
    const all = await open(way, { handlers });
    expect(Object.keys(await all.offered()).sort()).toEqual(['elicitation', 'roots']);
    await all.close();
    const some = await open(way, { handlers, mayAsk: ['roots', 'sampling'] });
    expect(Object.keys(await some.offered())).toEqual(['roots']);
    await some.close();
    const none = await open(way, { handlers, mayAsk: [] });
    expect(await none.offered()).toEqual({});
  });

  it('gets no answer to a request that was not offered, and the host does not see it', async () => {
    let seen = 0;
    const handlers = {
      elicitation: () => {
        seen += 1;
        return ADA;
      },
    };
    const { ask, events } = await open(way, { handlers, mayAsk: ['roots'] });
    const answer = ask('elicitation', { params: NAME, rude: true });
    if (isOld) expect(await answer).toEqual([{ error: expect.objectContaining({ code: -32601 }) }]);
    else
      await expect(answer).rejects.toMatchObject({
        code: 'INPUT_REQUIRED',
        hint: expect.stringContaining('mayAsk'),
      });
    expect(events).toEqual([
      { server: 'asker', kind: 'elicitation', outcome: 'refused', reason: 'not offered' },
    ]);
    expect(seen).toBe(0);
  });

  it('is identified by its name in the configuration', async () => {
    const servers: string[] = [];
    const handlers = {
      elicitation: ({ server }: { server: string }) => {
        servers.push(server);
        return ADA;
      },
    };
    const { ask, events } = await open(way, { handlers });
    expect(await ask('elicitation', { params: NAME })).toEqual([ADA]);
    expect(servers).toEqual(['asker']);
    expect(events).toEqual([
      { server: 'asker', kind: 'elicitation', outcome: 'answered', reason: undefined },
    ]);
  });

  it('may not ask for a secret in a form', async () => {
    let seen = 0;
    const handlers = {
      elicitation: () => {
        seen += 1;
        return ADA;
      },
    };
    const { ask, events } = await open(way, { handlers });
    const [answer] = await ask('elicitation', { params: form({ password: { type: 'string' } }) });
    expect(answer).toEqual(
      isOld
        ? { error: { code: -32602, message: 'Rejected: the form asks for a secret ("password")' } }
        : { action: 'decline' },
    );
    expect(events).toMatchObject([{ outcome: 'refused', reason: 'the form asks for a secret ("password")' }]);
    expect(seen).toBe(0);
  });

  it('is answered at a limited rate', async () => {
    let seen = 0;
    const handlers = {
      elicitation: () => {
        seen += 1;
        return ADA;
      },
    };
    const limits = { askBurst: 3, asksPerMinute: 10 };
    let now = 1_000_000;
    const { ask, events } = await open(way, { handlers, limits, now: () => now });
    const answers = await ask('elicitation', { params: NAME, times: 5 });
    expect(answers.slice(0, 3)).toEqual([ADA, ADA, ADA]);
    expect(answers.slice(3)).toEqual(
      [1, 2].map(() =>
        isOld ? { error: expect.objectContaining({ code: -32000 }) } : { action: 'decline' },
      ),
    );
    expect(events.map(({ outcome }) => outcome)).toEqual([
      'answered',
      'answered',
      'answered',
      'limited',
      'limited',
    ]);
    expect(seen).toBe(3);
    now += 6_000;
    expect(await ask('elicitation', { params: NAME })).toEqual([ADA]);
  });

  it("is declined if no answer comes in time, and the host's signal fires", async () => {
    const over: unknown[] = [];
    const handlers = {
      elicitation: ({ signal }: { signal: AbortSignal }) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => {
            over.push(signal.aborted);
            reject(new Error('over'));
          });
        }),
    };
    const { ask, events } = await open(way, { handlers, limits: { askTimeoutMs: 50 } });
    expect(await ask('elicitation', { params: NAME })).toEqual([{ action: 'decline' }]);
    expect(over).toEqual([true]);
    expect(events).toMatchObject([{ outcome: 'declined', reason: 'the host did not respond within 50 ms' }]);
  });

  it('does not learn why the host failed', async () => {
    const handlers = {
      elicitation: () => {
        throw new Error('/home/ada/.secret is not there');
      },
    };
    const { ask, events } = await open(way, { handlers });
    const answer = ask('elicitation', { params: NAME });
    if (isOld)
      expect(await answer).toEqual([{ error: { code: -32603, message: 'The host failed to respond' } }]);
    else await expect(answer).rejects.toMatchObject({ code: 'INPUT_REQUIRED' });
    expect(events).toMatchObject([{ outcome: 'failed', reason: '/home/ada/.secret is not there' }]);
  });

  it('gets no more model tokens than allowed', async () => {
    const seen: unknown[] = [];
    const handlers = {
      sampling: ({
        maxTokens,
        params,
        modelHints,
      }: {
        maxTokens: number;
        params: object;
        modelHints: readonly string[];
      }) => {
        seen.push({ maxTokens, modelHints, params: Object.keys(params).sort() });
        return { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'm' } as const;
      },
    };
    const { ask } = await open(way, { handlers, limits: { maxSamplingTokens: 100 } });
    const params = {
      ...SAMPLE,
      maxTokens: 1_000_000,
      includeContext: 'allServers',
      metadata: { spend: 'much' },
      modelPreferences: { hints: [{ name: 'm'.repeat(500) }] },
    };
    expect(await ask('sampling', { params })).toMatchObject([{ role: 'assistant', model: 'm' }]);
    expect(seen).toEqual([
      {
        maxTokens: 100,
        modelHints: ['m'.repeat(128)],
        params: ['maxTokens', 'messages', 'modelPreferences'],
      },
    ]);
  });

  it('gets roots that are directories of this machine', async () => {
    let uri = 'file:///work/../tmp';
    const { ask, events } = await open(way, {
      handlers: { roots: () => ({ roots: [{ uri, name: 'here' }] }) },
    });
    expect(await ask('roots')).toEqual([{ roots: [{ uri: 'file:///tmp', name: 'here' }] }]);
    uri = 'https://example.com/';
    const answer = ask('roots');
    if (isOld) expect(await answer).toEqual([{ error: expect.objectContaining({ code: -32603 }) }]);
    else await expect(answer).rejects.toMatchObject({ code: 'INPUT_REQUIRED' });
    expect(events.at(-1)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('file://') });
  });
});
