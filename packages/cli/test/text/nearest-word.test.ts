import { expect, it } from 'vitest';
import { nearestWord } from '../../src/command-line/nearest-word.js';

it.each([
  ['lst', ['list', 'logs'], 'list'],
  ['pign', ['ping', 'prompt'], 'ping'],
  ['deom', ['demo', 'docs'], 'demo'],
  ['resorces', ['read', 'resources'], 'resources'],
  ['ad', ['add', 'big'], 'add'],
  // A difference in half of a short word is not a typo.
  ['nope', ['gone', 'docs'], undefined],
  ['x', ['y'], undefined],
  ['anything', [], undefined],
])('%j among %j is %j', (word, candidates, expected) => {
  expect(nearestWord(word, candidates)).toBe(expected);
});
