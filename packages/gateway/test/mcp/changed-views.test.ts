/** A view that changes limits what clients of the newer revision began in it: streams, and calls that wait for them. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { ViewOptions } from '../../src/mcp/view.js';
import { modern, type RawAnswer } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};
/** The resource that the tool `touch` changes. */
const WATCHED = 'fixture://watched';
const ADA = { action: 'accept', content: { name: 'Ada' } };
const META = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };

/** What the view becomes, each time without what was begun in it. */
const CHANGES: ReadonlyArray<readonly [string, Readonly<Record<string, ViewOptions>>]> = [
  ['offers other servers', { some: { servers: ['other'] } }],
  ['gives a capability for another server only', { some: { capabilities: ['mcp:other'] } }],
  ['has a rule that denies', { some: { rules: [{ action: 'deny', server: 'up' }] } }],
  ['is removed', {}],
];

let stand: Stand;
afterEach(() => stand.close());

// requirement D2
describe.each(CHANGES)('a view that %s', (_change, views) => {
  it('no longer tells open streams of its resources', async () => {
    stand = await openStand({ servers: { up: fixture('echo') }, views: { some: {} } });
    const stream = await listen([WATCHED]);
    await waitUntil(() => stream.text().includes('acknowledged'));
    await stand.runtime.callTool('up', 'touch', {});
    await waitUntil(() => stream.text().includes('resources/updated'));
    const before = stream.text().length;
    stand.endpoint.setViews(views);
    let isUpdated = false;
    await stand.runtime.subscribeResource('up', WATCHED, () => {
      isUpdated = true;
    });
    await stand.runtime.callTool('up', 'touch', {});
    await waitUntil(() => isUpdated);
    stand.runtime.registerTool({ name: 'later', inputSchema: { type: 'object' }, run: () => 'later' });
    await waitUntil(() => stream.text().includes('tools/list_changed'));
    expect(stream.text().slice(before)).not.toContain('resources/updated');
    stream.close();
  });

  it('lets no call continue that it no longer offers', async () => {
    const asking = { ...fixture('asking', '--era', 'legacy'), mayAsk: ['elicitation' as const] };
    stand = await openStand({ servers: { up: asking }, views: { some: {} } });
    const asked = await call();
    expect(asked.body.result).toMatchObject({ resultType: 'input_required' });
    stand.endpoint.setViews(views);
    const resumed = await call(answersTo(asked));
    expect(JSON.stringify(resumed.body)).not.toContain('Ada');
    expect(resumed.body.result).toBeUndefined();
  });
});

it('a view that changes in other ways lets a call continue', async () => {
  const asking = { ...fixture('asking', '--era', 'legacy'), mayAsk: ['elicitation' as const] };
  stand = await openStand({ servers: { up: asking }, views: { some: {} } });
  const asked = await call();
  stand.endpoint.setViews({ some: { servers: ['up'] } });
  const resumed = await call(answersTo(asked));
  expect(JSON.stringify(resumed.body.result)).toContain('Ada');
});

const call = (more: Record<string, unknown> = {}): Promise<RawAnswer> =>
  modern(
    stand,
    {
      method: 'tools/call',
      params: {
        name: 'up_ask',
        arguments: { kind: 'elicitation', params: FORM, times: 1, atOnce: true },
        ...more,
      },
    },
    { path: '/mcp/some', meta: META },
  );

const answersTo = ({ body: { result = {} } }: RawAnswer): Record<string, unknown> => ({
  requestState: result.requestState,
  inputResponses: Object.fromEntries(Object.keys(result.inputRequests as object).map((key) => [key, ADA])),
});

async function listen(uris: readonly string[]): Promise<{ text: () => string; close: () => void }> {
  const leaving = new AbortController();
  const response = await fetch(`${stand.url}/mcp/some`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      authorization: 'Bearer token',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: uris },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  let received = '';
  const read = async (): Promise<void> => {
    for await (const part of response.body ?? []) received += Buffer.from(part).toString();
  };
  read().catch(() => {});
  return { text: () => received, close: () => leaving.abort() };
}
