/** A client of the newer revision before a server of an older one: the call waits while its client is asked. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import type { Caller, RuntimeEvents } from 'turnbuckle';
import { afterEach, describe, expect, it } from 'vitest';
import { modern, type RawAnswer } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const CALLERS: Readonly<Record<string, Caller>> = {
  token: { id: 'ada', capabilities: ['mcp_integration'] },
  other: { id: 'bob', capabilities: ['mcp_integration'] },
};
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};
const ADA = { action: 'accept', content: { name: 'Ada' } };

let stand: Stand | undefined;
afterEach(() => stand?.close());

async function open(): Promise<Stand> {
  const asking = { ...fixture('asking', '--era', 'legacy'), mayAsk: ['elicitation' as const] };
  stand = await openStand({ servers: { up: asking }, callers: CALLERS });
  return stand;
}

interface Asking {
  readonly more?: Record<string, unknown>;
  readonly token?: string;
  readonly times?: number;
  readonly capabilities?: object;
}

function ask(
  here: Stand,
  { more = {}, token = 'token', times = 1, capabilities }: Asking = {},
): Promise<RawAnswer> {
  const params = {
    name: 'up_ask',
    arguments: { kind: 'elicitation', params: FORM, times, atOnce: true },
    ...more,
  };
  return modern(
    here,
    { method: 'tools/call', params },
    {
      token,
      meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities ?? { elicitation: { form: {} } } },
    },
  );
}

/** What answers everything that was asked. */
const answered = ({ body: { result = {} } }: RawAnswer): Record<string, unknown> => ({
  requestState: result.requestState,
  inputResponses: Object.fromEntries(Object.keys(result.inputRequests as object).map((key) => [key, ADA])),
});

describe('a call that waits for its client', () => {
  it('goes on with the answer, and its name is good once', async () => {
    const here = await open();
    const asked = await ask(here);
    expect(asked.body.result).toMatchObject({
      resultType: 'input_required',
      requestState: expect.any(String),
    });
    expect(Object.values(asked.body.result?.inputRequests as object)).toEqual([
      { method: 'elicitation/create', params: FORM },
    ]);
    const more = answered(asked);
    const done = await ask(here, { more });
    expect(done.body.result).toMatchObject({
      resultType: 'complete',
      content: [{ text: JSON.stringify([ADA]) }],
    });
    expect((await ask(here, { more })).body.error).toMatchObject({ code: -32602 });
  });

  it('asks at once what is asked at once, and again what was left out', async () => {
    const here = await open();
    const asked = await ask(here, { times: 3 });
    const keys = Object.keys(asked.body.result?.inputRequests as object);
    expect(keys).toHaveLength(3);
    const [first = ''] = keys;
    const some = { requestState: asked.body.result?.requestState, inputResponses: { [first]: ADA } };
    const again = await ask(here, { times: 3, more: some });
    expect(Object.keys(again.body.result?.inputRequests as object)).toEqual(keys.slice(1));
    expect(again.body.result?.requestState).not.toBe(asked.body.result?.requestState);
    const done = await ask(here, { times: 3, more: answered(again) });
    expect(done.body.result).toMatchObject({ content: [{ text: JSON.stringify([ADA, ADA, ADA]) }] });
  });

  it('is of no use to another caller, or for another request', async () => {
    const here = await open();
    const more = answered(await ask(here));
    for (const wrong of [
      ask(here, { more, token: 'other' }),
      ask(here, { more, times: 2 }),
      ask(here, { more: { ...more, requestState: `${String(more.requestState)}x` } }),
    ])
      expect((await wrong).body.error).toMatchObject({ code: -32602 });
    expect((await ask(here, { more })).body.result).toMatchObject({ resultType: 'complete' });
  });

  it('is refused when the client did not say that it can be asked', async () => {
    const here = await open();
    const told: RuntimeEvents['server.asked'][] = [];
    here.runtime.on('server.asked', (event) => told.push(event));
    const { body } = await ask(here, { capabilities: {} });
    expect(told).toMatchObject([{ kind: 'elicitation', outcome: 'refused' }]);
    expect(body.result ?? body.error).toBeDefined();
  });

  it('does not end while its client thinks, but with the gateway', async () => {
    const here = await open();
    await ask(here);
    let settled = 0;
    here.runtime.on('call.settled', () => {
      settled += 1;
    });
    expect(settled).toBe(0);
    await here.close();
    stand = undefined;
    await waitUntil(() => settled === 1);
  });
});
