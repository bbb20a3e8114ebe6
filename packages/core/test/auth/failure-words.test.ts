/** What failed is said in words, never by the name of a class: minified, that is two letters. */
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
    'an answer of another form',
    z.string().safeParse(1).error,
    ': the answer is not as the standard wants it.',
  ],
  ['no JSON', new SyntaxError('Unexpected token'), ': the answer is not JSON.'],
  ['nobody there', fetchFailed('ECONNREFUSED'), ': no answer (ECONNREFUSED).'],
  ['a code that is none', fetchFailed('<script>'), ': no answer.'],
  ['a class of a library', new Nv('secret text'), '.'],
  ['something thrown', 'secret text', '.'],
])('%s', (_what, cause, ending) => {
  const { message } = authFailed('docs', 'preparing the page', cause);
  expect(message).toBe(`Signing in at server "docs" failed while preparing the page${ending}`);
});

it('keeps an error of ours', () => {
  const own = new TurnbuckleError('FETCH_REFUSED', 'Not there.');
  expect(authFailed('docs', 'preparing the page', own)).toBe(own);
});
