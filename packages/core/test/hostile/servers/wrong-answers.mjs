// A legacy stdio server whose tool `ask` answers correctly in the end, after responses that are wrong in
// every way: for other ids, twice, with neither or both of result and error, in a batch, late.
import { createInterface } from 'node:readline';

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const result = (id, words) => ({ jsonrpc: '2.0', id, result: text(words) });
const inputSchema = { type: 'object', properties: { text: { type: 'string' }, wait: { type: 'integer' } } };

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'wrong-answers', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [{ name: 'ask', inputSchema }] }),
};

function answerAsked(id, args) {
  for (const other of [id + 1_000, id - 1_000, String(id), null, -1, 1.5, {}, 2 ** 53])
    write(result(other, 'wrong id'));
  write({ jsonrpc: '2.0', result: text('no id') });
  write({ jsonrpc: '1.0', id, result: text('wrong version') });
  write({ JSONRPC: '2.0', Id: id, Result: text('wrong case') });
  write([result(id + 1_000, 'in a batch'), result(id - 1_000, 'in a batch')]);
  write({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: id + 1_000, progress: 1 },
  });
  write({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: id, progress: 'many' },
  });
  write(result(id, args.text));
  write(result(id, 'a second time'));
  write({ jsonrpc: '2.0', id, error: { code: -32000, message: 'an error afterwards' } });
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'tools/call')
      setTimeout(() => answerAsked(id, params.arguments), params.arguments.wait ?? 0);
    else if (ANSWERS[method] === undefined)
      write({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } });
    else write({ jsonrpc: '2.0', id, result: ANSWERS[method](params ?? {}) });
  })
  .on('close', () => process.exit(0));
