/** Any program can be at MCP_BRIDGE_URL: its text never controls the terminal, its size is bounded, and no command crashes. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Finished, type Home, turnbuckle } from '../commands/turnbuckle.js';

const EVIL = 'seen\u001b]0;P\u0007\u001b[31m\u202e\u009b1A\r\nFAKE line';
/** Characters that a terminal acts on, or that hide text. */
const UNSAFE_CHARACTERS = /(?![\n\t])\p{Cc}|[\p{Cf}\u2028\u2029]/u;
const MEGABYTE = 1_024 * 1_024;

let respond: (response: ServerResponse, path: string) => void;
const server = createServer((request, response) => {
  response.on('error', () => {});
  request.resume();
  respond(response, request.url ?? '');
});
let home: Home;
beforeAll(async () => {
  home = await createHome({});
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await home.remove();
});

const run = (words: readonly string[]): Promise<Finished> => {
  const { port } = server.address() as AddressInfo;
  const env = { MCP_BRIDGE_URL: `http://127.0.0.1:${port}`, TURNBUCKLE_TOKEN: `tbk_${'a'.repeat(43)}` };
  return turnbuckle(words, { home, env });
};

const LISTS: readonly string[][] = [
  ['list'],
  ['list', EVIL],
  ['tools'],
  ['tools', EVIL],
  ['tools', '--ts'],
  ['resources'],
  ['prompts'],
  ['ping', EVIL],
  ['approvals'],
  ['approvals', 'show', EVIL],
  ['approvals', 'show', EVIL, '--full'],
  ['approvals', 'answer', 'x', 'once'],
  ['logs', EVIL, '--seconds', '0.3'],
  ['serve', 'status'],
];
/** The text of a tool is the result: it may contain line breaks. */
const RESULTS: readonly string[][] = [
  ['tools', EVIL, EVIL, '--schema'],
  ['call', EVIL, EVIL],
  ['read', EVIL, 'evil://x'],
  ['prompt', EVIL, EVIL],
];
const shown = (words: readonly string[]): string =>
  words
    .map((word) => word.slice(0, 12))
    .join(' ')
    .replace(/\p{C}/gu, '?');

const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'turnbuckle-problems': '1' });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
};

const FAULT = { code: EVIL, message: EVIL, error: EVIL, hint: EVIL, server: EVIL, tool: EVIL };
const STATUS = {
  ...{
    name: EVIL,
    status: 'connected',
    state: EVIL,
    transport: EVIL,
    era: EVIL,
    protocolVersion: EVIL,
    scope: EVIL,
  },
  ...{
    description: EVIL,
    stderr: EVIL,
    flags: [EVIL],
    origin: { file: EVIL, line: 1, scope: EVIL },
    error: FAULT,
  },
  ...{
    server: { name: EVIL, version: EVIL, title: EVIL },
    serverInfo: { name: EVIL, version: EVIL },
    problem: FAULT,
  },
  ...{
    instructions: EVIL,
    config: { mayAsk: [EVIL] },
    kept: true,
    toolCount: 1,
    capabilities: { [EVIL]: EVIL },
  },
};
const TOOL = {
  ...{ name: EVIL, server: EVIL, tool: EVIL, displayName: EVIL, title: EVIL, description: EVIL, scope: EVIL },
  ...{ flags: [{ code: EVIL, message: EVIL, text: EVIL }], annotations: { title: EVIL }, kind: EVIL },
  input_schema: {
    type: 'object',
    description: EVIL,
    properties: { [EVIL]: { type: EVIL, description: EVIL } },
  },
};
const APPROVAL = {
  ...{ id: EVIL, tool: EVIL, server: EVIL, callerId: EVIL, reason: EVIL, kind: 'tool', trusted: false },
  ...{ arguments: { [EVIL]: EVIL }, alsoSent: { [EVIL]: EVIL }, answers: [EVIL], change: [EVIL], run: EVIL },
  ...{ createdAt: EVIL, expiresAt: EVIL, isCut: true, notShown: { characters: EVIL, members: EVIL } },
  ...{ rule: { action: 'ask', file: EVIL, line: EVIL }, annotations: { readOnlyHint: EVIL } },
};
const ITEM = {
  server: EVIL,
  uri: EVIL,
  uriTemplate: EVIL,
  name: EVIL,
  title: EVIL,
  description: EVIL,
  mimeType: EVIL,
};
const CONTENT = [
  { type: 'text', text: EVIL },
  { type: EVIL, text: EVIL, uri: EVIL, name: EVIL, mimeType: EVIL },
];
/** A response body with every field that any route reads. */
const EVERYTHING = {
  ...{ ...STATUS, ...APPROVAL, ...FAULT, name: EVIL, status: 'connected', success: true, alive: true },
  ...{ servers: [STATUS], tools: [TOOL], resources: [ITEM], templates: [ITEM], layers: [{ file: EVIL }] },
  ...{
    prompts: [{ ...ITEM, arguments: [{ name: EVIL, description: EVIL }] }],
    approvals: [APPROVAL],
    problems: [FAULT],
  },
  result: {
    ...{ content: CONTENT, contents: [{ ...ITEM, text: EVIL }], structuredContent: { [EVIL]: EVIL } },
    ...{ messages: [{ role: EVIL, content: CONTENT[0] }], description: EVIL },
  },
};

describe('a daemon whose every text is hostile', () => {
  for (const [what, status] of [
    ['answers', 200],
    ['refuses', 500],
  ] as const)
    it.each([...LISTS, ...RESULTS].map((words) => [shown(words), words] as const))(
      `${what}: %s`,
      async (_, words) => {
        respond = (response) => json(response, status === 200 ? EVERYTHING : FAULT, status);
        const runs = await Promise.all([run(words), run([...words, '--json'])]);
        for (const { stdout, stderr, code } of runs) {
          expect(stdout).not.toMatch(UNSAFE_CHARACTERS);
          expect(stderr).not.toMatch(UNSAFE_CHARACTERS);
          expect(stderr).not.toMatch(/^FAKE/m);
          if (LISTS.some((list) => list === words)) expect(stdout).not.toMatch(/^FAKE/m);
          expect(code).not.toBe(70);
        }
      },
    );
});

const endless = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const part = ' '.repeat(MEGABYTE);
  let sent = 0;
  const more = (): void => {
    while (!response.destroyed && sent < 600) {
      sent += 1;
      if (!response.write(part)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
};
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const LISTED = [
  'servers',
  'tools',
  'resources',
  'templates',
  'prompts',
  'approvals',
  'layers',
  'problems',
  'result',
];
const all = (value: unknown): object => ({
  success: true,
  ...Object.fromEntries(LISTED.map((key) => [key, value])),
});

/** Each with its error code, where the code is fixed. */
const ODD: ReadonlyArray<[what: string, answer: (response: ServerResponse) => void, code?: string]> = [
  ['nothing', (response) => json(response, ''), 'PROTOCOL_VIOLATION'],
  ['a page', (response) => json(response, '<html>'), 'PROTOCOL_VIOLATION'],
  ['null', (response) => json(response, 'null'), 'PROTOCOL_VIOLATION'],
  ['a list', (response) => json(response, '[]'), 'PROTOCOL_VIOLATION'],
  ['a redirect', (response) => void response.writeHead(307, { location: '/x' }).end(), 'PROTOCOL_VIOLATION'],
  ['not HTTP', (response) => void response.socket?.end('SSH-2.0\r\n\r\n'), 'PROTOCOL_VIOLATION'],
  [
    'deeply nested JSON',
    (response) => json(response, `{"servers":${deep},"tools":${deep},"approvals":${deep}}`),
  ],
  ['numbers', (response) => json(response, all(5))],
  ['strings', (response) => json(response, all('x'))],
  ['lists of null', (response) => json(response, all([null]))],
  ['lists of numbers', (response) => json(response, all([1]))],
  ['objects', (response) => json(response, all({}))],
];

describe('a response that is not from a daemon is an error with a code and a hint', () => {
  it.each(ODD)(
    '%s',
    async (_, answer, expected) => {
      respond = answer;
      for (const { code, stderr } of await Promise.all([...LISTS, ...RESULTS].slice(0, -1).map(run))) {
        expect([stderr, code]).not.toContain(70);
        expect(stderr).not.toContain('INTERNAL');
      }
      const { code, stderr } = await run(['tools']);
      if (expected === undefined) return;
      expect([code, stderr]).toEqual([14, expect.stringContaining(`error ${expected} http://127.0.0.1:`)]);
      expect(stderr).toContain('To use another URL, set MCP_BRIDGE_URL');
    },
    60_000,
  );

  it('a response without end', async () => {
    respond = endless;
    for (const words of [['list'], ['call', 'x', 'y']]) {
      const { code, stderr } = await run(words);
      expect([code, stderr]).toEqual([
        14,
        expect.stringContaining('error RESPONSE_TOO_LARGE http://127.0.0.1:'),
      ]);
    }
  }, 60_000);
});
