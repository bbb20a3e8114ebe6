import { createRandom } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { answeredIds } from '../../src/connection/protocol/answered-ids.js';
import { runToEnd } from '../../src/json/slices.js';

type IsAwaited = Parameters<typeof answeredIds>[1];
const ANY: IsAwaited = () => true;
const idsIn = (text: string, isAwaited = ANY): unknown[] => runToEnd(answeredIds(text, isAwaited));

describe('the ids that a text responds to', () => {
  it.each([
    ['one response', '{"jsonrpc":"2.0","id":5,"result":{}}', [5]],
    ['an id in the middle', '{"result":{"id":1},"id":"a\\"b","more":[{"id":2}]}', ['a"b']],
    ['an error', ' { "error" : {"code":1,"id":9} , "id" : 6 } ', [6]],
    ['a request', '{"id":5,"method":"ping","params":{"id":6}}', []],
    ['a request, its method last', '{"id":5,"params":{},"method":"ping"}', []],
    ['a batch', '[{"id":1,"result":{}},{"method":"x","id":2},{"id":"c","error":{}}]', [1, 'c']],
    ['the same id twice', '[{"id":1},{"id":1}]', [1]],
    ['invalid ids', '[{"id":null},{"id":{}},{"id":[1]},{"id":true},{}]', []],
    ['no messages', '[[{"id":1}],2,"{\\"id\\":3}",null]', []],
    ['names in strings', '[{"result":"\\"},{\\"id\\":4","id":5}]', [5]],
    ['with a byte order mark', '\ufeff[{"id":1}]', [1]],
    ['truncated', '[{"id":1,"result":{}},{"id":2,"resu', [1]],
    ['nothing', '', []],
    ['invalid JSON', ']]}}{"id":1}[[', []],
  ])('%s', (_, text, ids) => {
    expect(idsIn(text)).toEqual(ids);
  });

  it('contain only ids that are awaited', () => {
    expect(idsIn('[{"id":1},{"id":2},{"id":3}]', (id) => id === 2)).toEqual([2]);
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'are the same as with a JSON parser (seed %i)',
    (seed) => {
      const random = createRandom(seed);
      const below = (max: number): number => Math.floor(random() * max);
      const keys = ['id', 'method', 'result', 'x"y', '\\', 'a,b', '{', ']'];
      const value = (depth: number): unknown => {
        const kind = below(depth > 3 ? 3 : 5);
        if (kind === 0) return below(100);
        if (kind === 1) return keys[below(keys.length)];
        if (kind === 2) return [null, true, -1.5][below(3)];
        const inner = Array.from({ length: below(4) }, () => value(depth + 1));
        return kind === 3
          ? inner
          : Object.fromEntries(inner.map((one) => [keys[below(keys.length)] ?? '', one]));
      };
      for (let round = 0; round < 200; round += 1) {
        const said = random() < 0.5 ? value(0) : Array.from({ length: below(5) }, () => value(1));
        const text = JSON.stringify(said, null, below(2));
        const messages = Array.isArray(said) ? said : [said];
        const expected = messages.flatMap((one) => {
          if (typeof one !== 'object' || one === null || Array.isArray(one)) return [];
          const { id, method } = one as { id?: unknown; method?: unknown };
          return method === undefined && (typeof id === 'string' || Number.isFinite(id)) ? [id] : [];
        });
        expect(idsIn(text)).toEqual([...new Set(expected)]);
      }
    },
  );
});
