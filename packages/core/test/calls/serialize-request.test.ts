import fc from 'fast-check';
import { expect, it } from 'vitest';
import { completeParams, type Envelope } from '../../src/connection/lanes/lane.js';
import { serializeRequest } from '../../src/connection/lanes/serialize-request.js';
import { parseLossless, parseWithRawNumbers, writeJson } from '../../src/json/lossless-json.js';

const envelope: Envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
const id = 1_000_000_007;

it('the text is the same message as the one with all its parts, whatever the params', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }),
      fc.boolean(),
      fc.boolean(),
      (given, meta, isModern, hasProgress) => {
        const params = { ...given, ...(meta === undefined ? {} : { _meta: meta }) };
        const request = { method: 'tools/call', params, onProgress: hasProgress ? () => {} : undefined };
        const used = isModern ? envelope : undefined;
        const text = serializeRequest('demo', request, { id, envelope: used });
        const message = {
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: completeParams(request, used, id),
        };
        expect(JSON.parse(text)).toEqual(JSON.parse(writeJson(message)));
      },
    ),
  );
});

it('numbers in the params are sent as they were received', () => {
  const params = parseWithRawNumbers('{"name":"add","arguments":{"a":90071992547409931,"b":1.0}}') as Record<
    string,
    unknown
  >;
  const request = { method: 'tools/call', params, onProgress: () => {} };
  expect(serializeRequest('demo', request, { id, envelope })).toContain(
    '"arguments":{"a":90071992547409931,"b":1.0}',
  );
});

it.each(['{ }', ' {"a":1.0} ', '{"a":1.0}\n', '{ "a" : 1e400 , "_metadata":{}}', '{"list":[1.0],"b":{ }}'])(
  'params with a raw text of their own make a valid message: %j',
  (text) => {
    const outer = parseLossless(`{"params":${text},"other":1.0}`) as {
      readonly params: Record<string, unknown>;
    };
    for (const params of [outer.params, parseLossless(text) as Record<string, unknown>])
      for (const used of [undefined, envelope]) {
        const request = { method: 'tools/call', params, onProgress: () => {} };
        const sent = JSON.parse(serializeRequest('demo', request, { id, envelope: used }));
        expect(sent.params).toEqual({ ...JSON.parse(text), _meta: { ...used, progressToken: id } });
      }
  },
);

it('params that serialize themselves keep what they say', () => {
  const params = { toJSON: () => ({ a: 1, _meta: { own: true } }) };
  const text = serializeRequest('demo', { method: 'x', params, onProgress: () => {} }, { id, envelope });
  expect(text.match(/"_meta"/g)).toHaveLength(1);
});

it('what is not JSON is rejected', () => {
  const send = (params: Record<string, unknown>) => () =>
    serializeRequest('demo', { method: 'x', params, onProgress: () => {} }, { id, envelope: undefined });
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  let deep: unknown = 1;
  for (let level = 0; level < 600; level += 1) deep = [deep];
  for (const params of [{ a: 1n }, cycle, { deep }])
    expect(send(params)).toThrow(expect.objectContaining({ code: 'ARGUMENTS_INVALID' }));
});
