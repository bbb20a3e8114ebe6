/** Error messages describe the failure in words, never by a class name: minified, that is two letters. */
import { TurnbuckleError } from 'turnbuckle';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { authFailed } from '../../src/auth/auth-errors.js';

class Nv extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = this.constructor.name;
  }
}

const fetchFailed = (code: unknown) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });

it.each<[string, unknown, string]>([
  [
    'a response in the wrong format',
    z.string().safeParse(1).error,
    ': the response does not conform to the OAuth specification.',
  ],
  ['invalid JSON', new SyntaxError('Unexpected token'), ': the response is not valid JSON.'],
  ['connection refused', fetchFailed('ECONNREFUSED'), ': no response (ECONNREFUSED).'],
  ['a code that is not an error code', fetchFailed('<script>'), ': no response.'],
  ['an error class of a library', new Nv('secret text'), '.'],
  ['a thrown string', 'secret text', '.'],
])('%s', (_what, cause, ending) => {
  const { message } = authFailed('docs', 'preparing the page', cause);
  expect(message).toBe(`Sign-in to server "docs" failed while preparing the page${ending}`);
});

it('keeps a TurnbuckleError as it is', () => {
  const own = new TurnbuckleError('FETCH_REFUSED', 'Not there.');
  expect(authFailed('docs', 'preparing the page', own)).toBe(own);
});

it.each(Object.getOwnPropertyNames(Object.prototype))('the code %s has the usual hint', (code) => {
  const cause = Object.assign(new Error('rejected'), { code });
  const { code: own, hint } = authFailed('docs', 'getting a token', cause);
  expect([own, hint]).toEqual(['AUTH_FAILED', 'Try again: turnbuckle login docs']);
});
