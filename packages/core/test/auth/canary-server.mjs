// A server that leaks its environment and arguments wherever it can: on stderr, in notifications, in errors. The first argument
// is its behaviour: `stay` or `exit`. It also writes what it received to the file in SEEN_FILE.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [behaviour] = process.argv.slice(2);
const seen = { env: process.env, args: process.argv.slice(2) };
const pairs = Object.entries(seen.env).map(([name, value]) => `${name}=${value}`);
const told = [
  JSON.stringify(seen),
  ...pairs,
  ...seen.args,
  ...Object.values(seen.env).map(encodeURIComponent),
].join('\n');
if (process.env.SEEN_FILE) writeFileSync(process.env.SEEN_FILE, told);
process.stderr.write(`${told}\n${Buffer.from(told).toString('base64')}\n`);
if (behaviour === 'exit') process.exit(3);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const fail = (id) => send({ id, error: { code: -32000, message: told.slice(0, 4_000), data: seen } });

/** The secrets that it repeats in its lists; only if REPEATS_IN_LISTS is set. */
const inLists = process.env.REPEATS_IN_LISTS ? process.env : {};
const short = ['FROM_VAULT', 'FROM_ENVIRONMENT', 'FROM_INPUT', 'FROM_VARIABLE']
  .flatMap((name) => inLists[name] ?? [])
  .join(' and ');
const inputSchema = {
  type: 'object',
  properties: { a: { type: 'string', default: short, description: short, enum: [short] } },
};

const answers = {
  initialize: (id, { protocolVersion }) =>
    send({
      id,
      result: {
        protocolVersion,
        capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
        serverInfo: { name: 'canary', version: seen.env.FROM_VAULT ?? '1', title: short },
        instructions: `Given: ${told}`,
      },
    }),
  'tools/list': (id) =>
    send({
      id,
      result: {
        tools: ['leak', 'quit'].map((name) => ({ name, title: short, description: short, inputSchema })),
      },
    }),
  'resources/list': (id) =>
    send({ id, result: { resources: [{ uri: 'a:b', name: short, description: short }] } }),
  'resources/templates/list': (id) => send({ id, result: { resourceTemplates: [] } }),
  'prompts/list': (id) =>
    send({ id, result: { prompts: [{ name: 'x', title: short, description: short }] } }),
  'tools/call': (id, { name }) => {
    if (name !== 'quit') return fail(id);
    process.stderr.write(`${told}\n`);
    setTimeout(() => process.exit(4), 50);
  },
  ping: (id) => send({ id, result: {} }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) {
    if (method === 'notifications/initialized')
      send({ method: 'notifications/message', params: { level: 'info', data: { told, seen } } });
    return;
  }
  if (method === 'server/discover') send({ id, error: { code: -32601, message: 'Method not found' } });
  else (answers[method] ?? fail)(id, params);
});
