/** Invalid bodies with very many or very long members: the error message stays short. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from '../threats/child-daemon.js';

let daemon: ChildDaemon;
beforeAll(async () => {
  daemon = await childDaemon({ servers: {} });
}, 60_000);
afterAll(() => daemon.remove());

describe('the error for an invalid body is short', () => {
  const keys = (count: number, value: string): string =>
    Array.from({ length: count }, (_, at) => `"k${at.toString(36)}":${value}`).join(',');
  const long = 'k'.repeat(4_000_000);
  const headers = (members: string): string =>
    `{"tool_name":"x","endpoint":{"url":"http://127.0.0.1:1/x","headers":{${members}}}}`;
  it.each<[string, string, string, string]>([
    ['99,000 unknown keys', '/mcp/call', `{"tool_name":"x",${keys(99_000, '1')}}`, '98990 more unknown keys'],
    ['one unknown key of 4 MB', '/mcp/call', `{"tool_name":"x","${long}":1}`, 'unknown key \\"kkk'],
    ['99,000 wrong headers', '/mcp/call', headers(keys(99_000, '1')), 'at most 200 are allowed'],
    ['99,000 headers', '/mcp/call', headers(keys(99_000, '"v"')), 'at most 200 are allowed'],
    ['a header of 4 MB', '/mcp/call', headers(`"${long}":1`), 'endpoint.headers.kkk'],
    ['a wrong header', '/mcp/call', headers('"a":1'), 'endpoint.headers.a\\": expected a string'],
    [
      'headers that are no object',
      '/mcp/call',
      headers('').replace('{}', '[]'),
      'endpoint.headers\\": expected an object',
    ],
    [
      '99,000 prompt arguments',
      '/prompts/get',
      `{"server":"mine","name":"p","arguments":{${keys(99_000, '1')}}}`,
      'at most 1000 are allowed',
    ],
  ])('%s', async (_what, path, body, words) => {
    const response = await daemon.fetch(path, { method: 'POST', body });
    const text = await response.text();
    expect(response.status).toBe(422);
    expect(text).toContain(words);
    expect(text.length).toBeLessThan(5_000);
  });
});
