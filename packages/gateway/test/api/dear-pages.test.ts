/** An agent can make log entries and approvals expensive to search for secrets: showing them must not block other requests. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from '../threats/child-daemon.js';

const CALLS = 400;
const APPROVALS = 60;
const costly = (count: number): string => 'api_key=x '.repeat(count);

let daemon: ChildDaemon;
let agent: string;
const pendingCalls = new AbortController();
beforeAll(async () => {
  daemon = await childDaemon({
    servers: { mine: fixture('echo'), other: fixture('echo') },
    rules: [
      { action: 'ask', server: 'other' },
      { action: 'allow', caller: '*' },
    ],
  });
  const can = ['mcp:mine', 'mcp:other'];
  const made = await daemon.post('/api/tokens', { name: 'agent', can, access: ['call', 'read'] });
  agent = String(made.body.token);
  for (let at = 0; at < CALLS; at += 20)
    await Promise.all(
      Array.from({ length: 20 }, () => call('mine', { text: costly(1_600) }).then((r) => r.text())),
    );
}, 120_000);
afterAll(async () => {
  pendingCalls.abort();
  await daemon.remove();
});

const call = (server: string, args: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${daemon.url}/mcp/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent}`, 'content-type': 'application/json' },
    body: JSON.stringify({ server, tool_name: 'echo', arguments: args }),
    signal: signal ?? null,
  });

interface Page {
  readonly calls: ReadonlyArray<{ readonly id: string }>;
  readonly next?: number;
}

const getJson = async <Body>(path: string): Promise<Body> => {
  const headers = { authorization: `Bearer ${agent}` };
  return (await (await daemon.fetch(path, { headers })).json()) as Body;
};

/** How many other requests are answered while the work runs. */
async function countAnswersDuring(work: Promise<unknown>): Promise<number> {
  let [isOver, answers] = [false, 0];
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await (await daemon.fetch('/health')).text();
    answers += 1;
  }
  await over;
  return answers;
}

describe('other requests are served while', () => {
  it('four pages of the log are built at once', async () => {
    const pages = Promise.all([1, 2, 3, 4].map(() => getJson<Page>('/api/calls?limit=1000')));
    expect(await countAnswersDuring(pages)).toBeGreaterThan(10);
  }, 60_000);

  it('the approvals are listed', async () => {
    const args = (at: number): object => ({ at, text: costly(3_000) });
    for (let at = 0; at < APPROVALS; at += 1) call('other', args(at), pendingCalls.signal).catch(() => {});
    const pending = async (): Promise<number> =>
      (await getJson<{ approvals: unknown[] }>('/api/approvals')).approvals.length;
    await waitUntil(async () => (await pending()) === APPROVALS, 30_000);
    expect(await countAnswersDuring(Promise.all([pending(), pending(), pending()]))).toBeGreaterThan(5);
  }, 60_000);
});

it('a page is bounded in characters, and the next one goes on after it', async () => {
  const ids = new Set<string>();
  let pages = 0;
  for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; pages += 1) {
    const page: Page = await getJson<Page>(`/api/calls?limit=1000&server=mine&before=${before}`);
    expect(JSON.stringify(page).length).toBeLessThan(12_000_000);
    for (const { id } of page.calls) ids.add(id);
    before = page.next;
  }
  expect(ids.size).toBe(CALLS);
  expect(pages).toBeGreaterThan(1);
}, 60_000);
