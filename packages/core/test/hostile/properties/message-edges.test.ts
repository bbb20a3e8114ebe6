import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readEdges } from '../../../src/connection/protocol/message-edges.js';

const EDGE = 1_024;
const large = fc.constantFrom(
  `{"content":[{"type":"text","text":"${'x'.repeat(3_000)}"}],"id":77}`,
  `{"id":78,"list":[${'{"id":79,"method":"m"},'.repeat(300)}{"id":80}]}`,
  `{"id":81,"text":"${'\\"id\\":82,'.repeat(500)}","method":"m"}`,
);
const id = fc.oneof(fc.integer({ min: 0, max: 2_000_000_000 }), fc.stringMatching(/^[a-z]{1,9}$/));
const edgesOf = (text: string) => readEdges(text.slice(0, EDGE), text.slice(-EDGE));

it('identifies a message by its own members, in any order', () => {
  fc.assert(
    fc.property(
      id,
      large,
      fc.boolean(),
      fc.integer({ min: 0, max: 5 }),
      fc.constantFrom('', ' ', '\t'),
      (own, result, hasMethod, turn, space) => {
        const members = [
          `"jsonrpc"${space}:"2.0"`,
          `"id":${space}${JSON.stringify(own)}`,
          hasMethod ? '"method":"x"' : `"trace":${space}"id\\":3,"`,
          `"${hasMethod ? 'params' : 'result'}":${result}`,
        ];
        const ordered = [...members.slice(turn % 4), ...members.slice(0, turn % 4)];
        const read = edgesOf(`{${ordered.join(`${space},`)}}`);
        expect(read).toEqual({ id: own, hasMethod });
      },
    ),
    { numRuns: 2_000, seed: 9 },
  );
});

it('does not mistake a nested member for one of the message', () => {
  for (const result of [`{"id":5,"a":"${'x'.repeat(3_000)}","id":6}`, `[${'{"id":5},'.repeat(900)}{"id":6}]`])
    expect(edgesOf(`{"jsonrpc":"2.0","result":${result}}`).id).toBeUndefined();
});
