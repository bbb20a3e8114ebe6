/**
 * A hidden name gets the same response as a missing one: byte for byte, over every transport and for every
 * method that takes a name, whether a view, a rule or a token hides it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ABSENT,
  askOver,
  HIDDEN_SERVER,
  HIDERS,
  type HiddenStage,
  type Hider,
  openHiddenStage,
  type Request,
  SECRET,
  WAYS,
} from './hidden-stage.js';

let stage: HiddenStage;
beforeAll(async () => {
  stage = await openHiddenStage();
});
afterAll(() => stage.close());

const hiders = Object.keys(HIDERS) as Hider[];
const absentIn = (text: string): string => text.replaceAll(SECRET, ABSENT);

/** Requests that name something hidden: items of a visible server, and a hidden server. */
const requestsFor = (era: 'modern' | 'legacy', hider: Hider): Readonly<Record<string, Request>> => {
  const plain = hider === 'plainView';
  // A caller with the capability for the open server may see all of it.
  const isOpen = hider === 'capability';
  const prefix = (server: string): string => (plain ? '' : `${server}_`);
  const argument = { name: 'one', value: '' };
  const all = (isOpen ? [HIDDEN_SERVER] : ['open', HIDDEN_SERVER]).flatMap(
    (server): Array<[string, Request]> => {
      const at = server === 'open' ? 'of the open server' : 'of the hidden server';
      const uri = `note://${server}/${SECRET}`;
      const of = `note://${server}/of${SECRET}/x`;
      const template = `note://${server}/of${SECRET}/{one}`;
      const prompt = `${prefix(server)}${SECRET}`;
      return [
        [`tool ${at}`, ['tools/call', { name: `${prefix(server)}${SECRET}`, arguments: {} }]],
        [
          `tool with headers ${at}`,
          ['tools/call', { name: `${prefix(server)}keyed${SECRET}`, arguments: { region: 'x' } }],
        ],
        [`resource ${at}`, ['resources/read', { uri }]],
        [`resource of a template ${at}`, ['resources/read', { uri: of }]],
        [
          `resource by its other name ${at}`,
          ['resources/read', { uri: `turnbuckle://${server}/${encodeURIComponent(uri)}` }],
        ],
        [`prompt ${at}`, ['prompts/get', { name: prompt }]],
        [
          `completion of a prompt ${at}`,
          ['completion/complete', { ref: { type: 'ref/prompt', name: prompt }, argument }],
        ],
        [
          `completion of a template ${at}`,
          ['completion/complete', { ref: { type: 'ref/resource', uri: template }, argument }],
        ],
        [
          `completion of a resource ${at}`,
          ['completion/complete', { ref: { type: 'ref/resource', uri }, argument }],
        ],
        era === 'modern'
          ? [`listening ${at}`, ['subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } }]]
          : [`subscription ${at}`, ['resources/subscribe', { uri }]],
      ];
    },
  );
  return Object.fromEntries([
    ...all,
    ...(isOpen
      ? []
      : [
          ['method', [`own/${SECRET}`, {}]],
          ['method about a task', [`tasks/${SECRET}`, {}]],
        ]),
    ['task', ['tasks/get', { taskId: `${SECRET}${SECRET}${SECRET}${SECRET}` }]],
    ['cancelled task', ['tasks/cancel', { taskId: SECRET }]],
    ['task by method', [`tasks/${SECRET}`, { taskId: SECRET }]],
  ]);
};

describe.each(WAYS)('over %s', (way) => {
  const era = way.endsWith('modern') ? 'modern' : 'legacy';
  describe.each(hiders)('what the %s hides', (hider) => {
    it.each(Object.entries(requestsFor(era, hider)))('looks missing: %s', async (_, request) => {
      const ask = askOver(stage, way, hider);
      const before = stage.asked().length;
      const hidden = await ask(request);
      expect(
        stage
          .asked()
          .slice(before)
          .filter((line) => /call|read|get|complete/.test(line)),
      ).toEqual([]);
      const absent = await ask(JSON.parse(absentIn(JSON.stringify(request))));
      expect(absentIn(hidden)).toBe(absent);
      // Only what was requested is returned.
      const asked = JSON.stringify(request);
      const received = hidden.replaceAll(/[\w:/{}%]*wxyz[\w:/{}%]*/g, (word) =>
        asked.includes(word) ? '' : word,
      );
      expect(received).not.toContain('wxyz');
    });
  });
});

/** The bridge and the API, where names are in paths and bodies. */
const ROUTES: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
  'open',
  HIDDEN_SERVER,
].flatMap((server) => {
  const uri = `note://${server}/${SECRET}`;
  const name = `${server}_${SECRET}`;
  return [
    ['POST', '/mcp/call', { tool_name: name }],
    ['POST', '/mcp/call', { server, tool_name: SECRET }],
    ['POST', '/mcp/calls', { calls: [{ tool_name: name }, { server, tool_name: SECRET }] }],
    ['POST', '/resources/read', { server, uri }],
    ['POST', '/prompts/get', { server, name: SECRET }],
    ['GET', `/tools?search=${SECRET}`],
    ['GET', `/api/tools/${name}`],
    ['GET', `/api/tools?search=${SECRET}`],
    ['GET', `/api/tools?server=${server}&search=${SECRET}`],
    ['POST', `/api/pins/${server}/${SECRET}`, {}],
    ['DELETE', `/api/pins/${server}/${SECRET}`],
    ['GET', `/api/calls?tool=${SECRET}`],
    ['GET', `/api/calls?search=${SECRET}`],
  ] as const;
});
const SERVER_ROUTES: typeof ROUTES = [
  ['POST', '/mcp/call', { server: HIDDEN_SERVER, tool_name: 'look' }],
  ['GET', `/api/servers/${HIDDEN_SERVER}`],
  ['PATCH', `/api/servers/${HIDDEN_SERVER}`, { enabled: true }],
  ['DELETE', `/api/servers/${HIDDEN_SERVER}`],
  ...['connect', 'disconnect', 'reconnect', 'refresh', 'ping', 'enable', 'disable', 'sign-in'].map(
    (word) => ['POST', `/api/servers/${HIDDEN_SERVER}/${word}`, {}] as const,
  ),
  ['GET', `/api/servers/${HIDDEN_SERVER}/sign-in`],
  ['DELETE', `/api/servers/${HIDDEN_SERVER}/sign-in`],
  ['GET', `/api/resources?server=${HIDDEN_SERVER}`],
  ['GET', `/api/prompts?server=${HIDDEN_SERVER}`],
  ['GET', `/api/tools?server=${HIDDEN_SERVER}`],
  ['GET', `/api/calls?server=${HIDDEN_SERVER}`],
  ['POST', `/api/pins/${HIDDEN_SERVER}/look`, {}],
];

const request = async (token: string, [method, path, body]: (typeof ROUTES)[number]): Promise<string> => {
  const response = await stage.own.fetch(path, {
    method,
    token: stage.token(token),
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  return `${response.status} ${await response.text()}`;
};

describe.each(['ruled', 'few', 'uncleared'])('over HTTP without MCP, for the token "%s"', (token) => {
  it.each([...ROUTES, ...SERVER_ROUTES].map((route) => [`${route[0]} ${route[1]}`, route] as const))(
    'a hidden name looks missing: %s',
    async (_, route) => {
      const before = stage.asked().length;
      const hidden = await request(token, route);
      expect(
        stage
          .asked()
          .slice(before)
          .filter((line) => line.includes('wxyz')),
      ).toEqual([]);
      expect(absentIn(hidden)).toBe(await request(token, JSON.parse(absentIn(JSON.stringify(route)))));
    },
  );
});

it('is not there in an endpoint that is given with the request', async () => {
  const [url] = stage.inlineUrls;
  for (const token of ['ruled', 'few']) {
    const call = (tool: string) =>
      request(token, ['POST', '/mcp/call', { endpoint: { url }, tool_name: tool }]);
    expect(absentIn(await call(SECRET))).toBe(await call(ABSENT));
  }
});

it('a call of a hidden tool is in the log, for callers that may see it', async () => {
  await askOver(stage, 'modern', 'rule')(['tools/call', { name: `${HIDDEN_SERVER}_look`, arguments: {} }]);
  await expect
    .poll(async () => {
      const { calls } = (await (await stage.own.fetch('/api/calls?caller=ruled&limit=1')).json()) as {
        calls: object[];
      };
      return calls[0];
    })
    .toMatchObject({ server: HIDDEN_SERVER, tool: 'look', code: 'TOOL_UNKNOWN', decision: 'deny' });
  expect(await request('few', ['GET', '/api/calls?limit=1000'])).not.toContain('wxyz');
});

it('a hidden name is not suggested to any caller', async () => {
  for (const hider of hiders) {
    const name = `${hider === 'plainView' ? '' : `${HIDDEN_SERVER}_`}${SECRET}`.slice(0, -1);
    expect(await askOver(stage, 'modern', hider)(['tools/call', { name }])).not.toContain('Did you mean');
  }
});
