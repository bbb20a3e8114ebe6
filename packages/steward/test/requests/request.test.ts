import { TurnbuckleError } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { parseRequest, type RequestParams, type StewardRequest } from '../../src/requests/request.js';
import { makeRequest } from '../request-maker.js';

function failure(input: unknown): TurnbuckleError {
  try {
    parseRequest(input);
  } catch (error) {
    if (error instanceof TurnbuckleError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

const SEARCH: RequestParams<'search_servers'> = { purpose: 'weather', limit: 5 };

const addition = (params: StewardRequest['params']): StewardRequest =>
  makeRequest({}, { type: 'add_server', params });

const nested = (depth: number): unknown => (depth === 0 ? 1 : { inner: nested(depth - 1) });

// requirement E1
describe('a request', () => {
  it.each([
    ['add_server', { purpose: 'read PDF files' }],
    ['add_server', { serverName: 'pdf', registryName: 'io.example/pdf', values: { ROOT: '/tmp' } }],
    ['add_server', { package: { type: 'npm', identifier: '@example/pdf', version: '1.2.3' } }],
    [
      'add_server',
      {
        registryName: 'io.example/pdf',
        package: { type: 'remote', identifier: 'https://example.com/mcp', version: '1.0.0' },
      },
    ],
    ['remove_server', { serverName: 'pdf' }],
    ['test_server', { serverName: 'pdf' }],
    ['search_servers', SEARCH],
    ['modify_server', { serverName: 'pdf', changes: { timeoutMs: 5_000, env: { A: 'b' } } }],
  ] as const)('of kind %s is accepted with its parameters', (type, params) => {
    const request = makeRequest({}, { type, params, priority: 'high', requestedBy: 'agent' });
    expect(parseRequest(request)).toEqual(request);
  });

  it.each([
    [{ ...makeRequest(), priority: 'urgent' }, 'at "priority": expected "low", "medium" or "high"'],
    [{ ...makeRequest(), type: 'buy_server' }, 'at "type": expected "add_server"'],
    [{ ...makeRequest(), id: 'a:b' }, 'at "id": expected 1 to 128 letters'],
    [{ ...makeRequest(), id: 7 }, 'at "id": expected a string, found a number'],
    [{ ...makeRequest(), timestamp: 'yesterday' }, 'at "timestamp": expected a time in ISO 8601'],
    [{ ...makeRequest(), extra: 1 }, 'unknown key "extra"'],
    [
      makeRequest({}, { params: { serverName: 'x' } }),
      'at "params.changes": expected an object, found nothing',
    ],
    [makeRequest({}, { type: 'test_server', params: { servername: 'x' } }), 'did you mean "serverName"?'],
    [
      makeRequest({}, { type: 'add_server', params: {} }),
      'at "params": expected at least one of "serverName"',
    ],
    [
      makeRequest({}, { type: 'search_servers', params: { purpose: 'x', limit: 1_000 } }),
      'at "params.limit"',
    ],
    [makeRequest({}, { type: 'search_servers', params: { purpose: '' } }), 'at "params.purpose"'],
    [
      addition({ package: { type: 'cargo', identifier: 'files', version: '1.0.0' } }),
      'at "params.package.type": expected "npm", "pypi", "oci", "mcpb" or "remote", found a string',
    ],
    [
      addition({ package: { type: 'nmp', identifier: 'files', version: '1.0.0' } }),
      'at "params.package.type": expected "npm", "pypi", "oci", "mcpb" or "remote", found "nmp"',
    ],
    [
      addition({ package: { type: 'remote', identifier: 'https://example.com/mcp', version: '1.0.0' } }),
      'at "params.package.type": expected "registryName" beside a package of type "remote"',
    ],
    [makeRequest({ big: 'x'.repeat(70_000) }), 'at "params": expected JSON of at most 65536 characters'],
    [makeRequest({ deep: nested(30) }), 'at "params": expected at most 20 levels of objects'],
    [makeRequest({ count: 1n }), 'at "params": expected JSON values'],
    [null, 'expected an object, found null'],
  ])('with a fault is refused: %#', (input, text) => {
    const { code, message, hint, data } = failure(input);
    expect(code).toBe('ARGUMENTS_INVALID');
    expect(message).toContain(text);
    expect(hint).toContain('not queued');
    expect(data?.faults).toBeInstanceOf(Array);
  });

  it('that refers to itself is refused', () => {
    const changes: Record<string, unknown> = {};
    changes.self = changes;
    expect(failure(makeRequest(changes)).code).toBe('ARGUMENTS_INVALID');
  });
});
