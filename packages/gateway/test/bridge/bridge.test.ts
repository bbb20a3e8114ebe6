import { fileURLToPath } from 'node:url';
import { fixture, startFixture } from '@turnbuckle/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/tokens/token-store.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { startBusy } from './busy-server.js';

const ALLOWED = fixture('echo', '--era', 'legacy');
const command = 'command' in ALLOWED ? ALLOWED.command : '';
const args = 'args' in ALLOWED ? [...(ALLOWED.args ?? [])] : [];

const ECHO_RAW = [
  process.execPath,
  fileURLToPath(new URL('../mcp/echo-raw.mjs', import.meta.url)),
  'stdio',
  'legacy',
];
const CRASHING = fixture('crash-mid-call', '--at-start');
const crashing = 'args' in CRASHING ? [...(CRASHING.args ?? [])] : [];

let own: OwnDaemon;
let agent: string;
beforeAll(async () => {
  own = await ownDaemon({
    servers: { files: fixture('echo') },
    toolApprovalRequired: false,
    daemon: { bridge: { commands: [[command, ...args], [command, ...crashing], ECHO_RAW] } },
  });
  const tokens = await TokenStore.open({ stateDir: own.stateDir });
  ({ token: agent } = await tokens.create({ name: 'agent', can: ['mcp:files/echo'], access: ['call'] }));
});
afterAll(() => own.close());

const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const postText = (path: string, body: string) =>
  own.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const call = (body: object, token?: string) => own.post('/mcp/call', body, token);
const echo = { tool_name: 'echo', arguments: { text: 'hi' } };
const HI = { content: [{ type: 'text', text: 'hi' }] };

// requirement D1
describe('one POST', () => {
  const [program = '', ...words] = ECHO_RAW;
  const exact = { command: program, args: words, transport: 'stdio' };
  const exactCall = `{"endpoint":${JSON.stringify(exact)},"tool_name":"raw","arguments":{"id":9007199254740993}}`;

  it.each([
    ['/mcp/call', exactCall],
    ['/mcp/calls', `{"calls":[${exactCall}]}`],
  ])('at %s forwards numbers losslessly', async (path, body) => {
    const text = await (await postText(path, body)).text();
    expect(text).toContain('"structuredContent":{"big":12345678901234567890,"one":1.0,');
    expect(text).toContain(String.raw`\"arguments\":{\"id\":9007199254740993}`);
  });

  it('with a duplicate key is rejected', async () => {
    const answer = await postText('/mcp/call', '{"tool_name":"a","tool_name":"b"}');
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ success: false, code: 'REQUEST_INVALID' });
  });

  it('calls a tool of a configured server, or by the name that agents see', async () => {
    expect(await call({ server: 'files', ...echo })).toMatchObject({
      status: 200,
      body: { success: true, result: HI },
    });
    expect(await call({ ...echo, tool_name: 'files_echo' })).toMatchObject({
      body: { success: true, result: HI },
    });
  });

  it('calls a tool of an endpoint over HTTP', async () => {
    const web = await startFixture('echo', { transport: 'http' });
    ends.push(() => web.stop());
    const endpoint = { url: web.url, transport: 'http', headers: { 'x-own': '1' } };
    for (let turn = 0; turn < 3; turn += 1)
      expect(await call({ endpoint, ...echo })).toMatchObject({
        status: 200,
        body: { success: true, result: HI },
      });
    // An inline server of one caller is hidden from all others.
    const { servers } = (await (await own.fetch('/servers')).json()) as { servers: Array<{ name: string }> };
    expect(servers.map(({ name }) => name)).toEqual(['files']);
  });

  it('starts a command that the configuration allows word for word, and uses it again', async () => {
    const pid = { endpoint: { command, args, transport: 'stdio' }, tool_name: 'pid' };
    const first = await call(pid);
    expect(first.body).toMatchObject({ success: true });
    expect(await call(pid)).toEqual(first);
    for (const endpoint of [
      { command, args: [...args, '--more'] },
      { command: 'sh', args: ['-c', 'id'] },
      { command: `${command} `, args },
    ])
      expect(await call({ endpoint, ...echo })).toMatchObject({
        status: 403,
        body: {
          success: false,
          code: 'ACCESS_DENIED',
          hint: expect.stringContaining('daemon.bridge.commands'),
        },
      });
  });

  it('reports an error as a sentence with a code, without a stack trace', async () => {
    const failures: Array<[object, number, string]> = [
      [{ server: 'nowhere', ...echo }, 404, 'SERVER_UNKNOWN'],
      [{ server: 'files', tool_name: 'ecko' }, 404, 'TOOL_UNKNOWN'],
      [{ server: 'files', tool_name: 'echo', arguments: { text: 7 } }, 422, 'ARGUMENTS_INVALID'],
      [{ tool_name: 7 }, 422, 'ARGUMENTS_INVALID'],
      [{ ...echo, surplus: true }, 422, 'ARGUMENTS_INVALID'],
      [{ endpoint: {}, ...echo }, 422, 'ARGUMENTS_INVALID'],
      [{ endpoint: { url: 'http://127.0.0.1:1/' }, server: 'files', ...echo }, 422, 'ARGUMENTS_INVALID'],
      [{ endpoint: { url: 'http://127.0.0.1:1/' }, ...echo }, 502, 'CONNECT_FAILED'],
      [
        { server: 'files', tool_name: 'sleep', arguments: { ms: 60_000, everyMs: 60_000 }, timeout_ms: 50 },
        504,
        'CALL_TIMEOUT',
      ],
    ];
    for (const [body, status, code] of failures) {
      const answer = await call(body);
      expect(answer).toMatchObject({ status, body: { success: false, code } });
      expect(answer.body.error).toMatch(/\.$/);
      expect(JSON.stringify(answer.body)).not.toContain('    at ');
    }
    expect(await call({ server: 'files', tool_name: 'fail' })).toMatchObject({
      status: 200,
      body: { success: false, code: 'TOOL_FAILED', error: 'failed as asked', result: { isError: true } },
    });
  });

  it('returns only the error data that programs can use', async () => {
    const wall = await startFixture('auth-wall', {
      transport: 'http',
      flags: ['--status', '429', '--times', '100', '--retry-after', '20'],
    });
    ends.push(() => wall.stop());
    const invalid = await call({ server: 'files', tool_name: 'echo', arguments: { text: 7 } });
    expect(invalid.body).toMatchObject({ data: { faults: [{ path: 'text', message: expect.any(String) }] } });
    const rpc = { server: 'files', tool_name: 'rpc_error', arguments: { code: -32050 } };
    expect((await call(rpc)).body).toMatchObject({ code: 'SERVER_ERROR', data: { rpc: { code: -32050 } } });
    const response = await own.fetch('/mcp/call', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ endpoint: { url: wall.url }, ...echo, timeout_ms: 10_000 }),
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '20']);
    expect(await response.json()).toMatchObject({
      code: 'RATE_LIMITED',
      data: { status: 429, retryAfterMs: 20_000 },
    });
    const exited = await call({ endpoint: { command, args: crashing }, ...echo });
    expect(exited).toMatchObject({ status: 502, body: { code: 'SERVER_EXITED' } });
    expect(exited.body.data).toBeUndefined();
  });

  it('documents this data in the OpenAPI document', async () => {
    const { components } = (await (await own.fetch('/openapi.json')).json()) as {
      components: { schemas: Record<string, { properties: object }> };
    };
    for (const name of ['postMcpCallAnswer', 'Refusal'])
      expect(Object.keys(components.schemas[name]?.properties ?? {})).toContain('data');
  });

  it('streams progress to a client that accepts server-sent events', async () => {
    const response = await own.fetch('/mcp/call', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ server: 'files', tool_name: 'sleep', arguments: { ms: 100, everyMs: 20 } }),
    });
    const events = [...(await response.text()).matchAll(/^event: (\w+)\ndata: (.*)$/gm)];
    expect(events.filter(([, name]) => name === 'progress').length).toBeGreaterThan(1);
    expect(JSON.parse(events.at(-1)?.[2] ?? '')).toMatchObject({ success: true });
    expect(events.at(-1)?.[1]).toBe('result');
  });

  it('times out a silent call, not one that reports progress, if only silence is limited', async () => {
    const sleep = (everyMs: number) =>
      call({ server: 'files', tool_name: 'sleep', arguments: { ms: 3_000, everyMs }, silence_ms: 1_500 });
    const [silent, lively] = await Promise.all([sleep(60_000), sleep(50)]);
    expect(silent).toMatchObject({
      status: 504,
      body: { code: 'CALL_TIMEOUT', error: expect.stringContaining('within 1500 ms') },
    });
    expect(lively).toMatchObject({ status: 200, body: { success: true } });
  });

  // requirement D1, C10
  it('ends after timeout_ms in total, even if the server reports progress for ever', async () => {
    const web = await startFixture('echo', { transport: 'http' });
    ends.push(() => web.stop());
    const forever = { tool_name: 'sleep', arguments: { ms: 3_600_000, everyMs: 20 }, timeout_ms: 700 };
    const places = [{ server: 'files' }, { endpoint: { url: web.url } }, { endpoint: { command, args } }];
    const timedOut = { code: 'CALL_TIMEOUT', error: expect.stringContaining('took longer than') };
    const calls = places.map((place) => ({ ...place, ...forever }));
    for (const body of [...calls, { ...forever, server: 'files', silence_ms: 60_000 }])
      expect(await call(body)).toMatchObject({ status: 504, body: timedOut });
    const batch = await own.post('/mcp/calls', { calls });
    expect(batch.body).toMatchObject({ results: calls.map(() => timedOut) });
    const streamed = await own.fetch('/mcp/call', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(calls[0]),
    });
    const text = await streamed.text();
    expect(text).toContain('event: progress');
    expect(text).toContain('CALL_TIMEOUT');
  });

  it('does not wait beyond its timeout for a server that limits the rate', async () => {
    const web = await startFixture('echo', { transport: 'http', flags: ['--answers', 'json'] });
    ends.push(() => web.stop());
    const busy = await startBusy(web.url);
    ends.push(() => busy.stop());
    const answer = await call({ endpoint: { url: busy.url }, ...echo, timeout_ms: 5_000 });
    expect(answer).toMatchObject({ status: 429, body: { data: { retryAfterMs: 20_000 } } });
  });

  it('makes many calls, and returns their results in order', async () => {
    const calls = Array.from({ length: 40 }, (_, index) => ({
      server: 'files',
      tool_name: index === 7 ? 'nothing' : 'echo',
      arguments: { text: String(index) },
    }));
    const { body } = await own.post('/mcp/calls', { calls });
    const results = body.results as Array<{
      success: boolean;
      result?: { content: Array<{ text: string }> };
    }>;
    expect(results.map(({ success }) => success)).toEqual(calls.map((_, index) => index !== 7));
    expect(results[30]?.result?.content[0]?.text).toBe('30');
    expect((await own.post('/mcp/calls', { calls: [] })).status).toBe(422);
  });
});

describe('an agent with a token of its own', () => {
  it('calls only what it may see; everything else is unknown', async () => {
    expect(await call({ server: 'files', ...echo }, agent)).toMatchObject({ body: { success: true } });
    const hidden = await call({ server: 'files', tool_name: 'pid' }, agent);
    const none = await call({ server: 'files', tool_name: 'none' }, agent);
    expect(hidden.status).toBe(404);
    expect(JSON.stringify(hidden.body).replaceAll('pid', 'none')).toBe(JSON.stringify(none.body));
    const { tools } = (await (await own.fetch('/tools', { token: agent })).json()) as {
      tools: Array<{ name: string }>;
    };
    expect(tools.map(({ name }) => name)).toEqual(['files_echo']);
  });

  it('may not name an endpoint', async () => {
    const endpoint = { url: 'http://169.254.169.254/latest/meta-data' };
    expect(await call({ endpoint, ...echo }, agent)).toMatchObject({
      status: 403,
      body: { code: 'ACCESS_DENIED' },
    });
  });
});

describe('an unknown or repeated query parameter', () => {
  it.each([
    ['/tools?serch=echo', 'unknown key "serch" (did you mean "search"?)'],
    ['/tools?search=a&search=b', 'query at "search": specified more than once'],
    ['/servers?name=files', 'unknown key "name"'],
    ['/resources?server=files', 'unknown key "server"'],
    ['/prompts?x', 'unknown key "x"'],
  ])('is refused: GET %s', async (path, words) => {
    const answer = await own.fetch(path, { token: agent });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      code: 'ARGUMENTS_INVALID',
      error: expect.stringContaining(words),
    });
  });

  it('is refused for a call too', async () => {
    const body = JSON.stringify({ server: 'files', ...echo });
    const answer = await postText('/mcp/call?timeout_ms=5', body);
    expect(answer.status).toBe(422);
    expect((await postText('/mcp/call', body)).status).toBe(200);
  });

  it('is not reported for a known or an empty query', async () => {
    for (const path of ['/tools?', '/tools?search=', '/tools?search=echo', '/servers?'])
      expect((await own.fetch(path, { token: agent })).status, path).toBe(200);
  });
});
