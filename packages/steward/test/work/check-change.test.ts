/** A change of a server that is not configured yet: all that can be checked before its entry is known. */
import { TurnbuckleError } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { parseRequest } from '../../src/requests/request.js';
import { checkRequest } from '../../src/work/check-change.js';
import { makeRequest } from '../request-maker.js';

function failure(changes: Readonly<Record<string, unknown>>): TurnbuckleError | undefined {
  try {
    checkRequest(parseRequest(makeRequest(changes)), { servers: new Map() });
    return undefined;
  } catch (error) {
    if (error instanceof TurnbuckleError) return error;
    throw error;
  }
}

// requirement E1, E4
describe('a change of a server that is not configured yet', () => {
  it.each([
    [{ start: 'never' }, 'params.changes.start: expected "eager" or "lazy", found "never"'],
    [{ type: 'http', headers: ['x'] }, 'params.changes.headers: expected an object, found a list'],
    [{ type: 'htpp' }, 'params.changes.type: unknown transport "htpp" (did you mean "http"?)'],
    [{ transport: 7 }, 'params.changes.transport: expected a transport name, found 7'],
    [{ reconnect: { maxMs: 'soon' } }, 'params.changes.reconnect.maxMs: expected '],
    [
      { sandbox: { preset: 'none' } },
      'params.changes.sandbox: preset: expected "strict", "offline" or "standard"',
    ],
    [
      { callTimeoutMS: 5 },
      'params.changes.callTimeoutMS: unknown key "callTimeoutMS" (did you mean "callTimeoutMs"?)',
    ],
    [{ heders: {} }, 'params.changes.heders: unknown key "heders" (did you mean "headers"?)'],
    [{ command: 'x', url: 'https://example.com' }, 'a server cannot have both "command" and "url"'],
    [{ env: { A: '${secret:' } }, 'params.changes.env.A: invalid placeholder'],
    [{ start: 'never', enabled: 'no' }, 'params.changes.enabled: expected true or false, found "no"'],
  ])('is refused if no entry could have it: %j', (changes, text) => {
    const { code, message, hint } = failure(changes) ?? {};
    expect(code).toBe('ARGUMENTS_INVALID');
    expect(message).toContain(text);
    expect(hint).toContain('not queued');
  });

  it('does not repeat what may be a secret', () => {
    expect(failure({ env: { API_KEY: 4_711_815 } })?.message).toContain('found a number');
  });

  it.each([
    { callTimeoutMs: 900, start: 'lazy', description: null },
    { url: 'https://example.com/mcp', headers: { A: 'b' } },
    { transport: 'sse', env: null },
    { args: ['--verbose'], cwd: null },
    { url: 'https://example.com', type: 'proxy' },
    { url: 'wss://example.com' },
    { nothing: null },
    {},
  ])('is accepted if an entry could have it: %j', (changes) => {
    expect(failure(changes)).toBeUndefined();
  });
});
