import { parseTraceparent, readTraceMeta } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;

describe('traceparent', () => {
  it('names a span and whether it is sampled', () => {
    expect(parseTraceparent(PARENT)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    expect(parseTraceparent(PARENT.replace(/01$/, '00'))?.isSampled).toBe(false);
    expect(parseTraceparent(PARENT.replace(/01$/, 'ff'))?.isSampled).toBe(true);
  });

  it('of a later version may have more fields', () => {
    for (const text of [`cc-${TRACE}-${SPAN}-01`, `cc-${TRACE}-${SPAN}-01-what-ever`])
      expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  });

  const WRONG: readonly unknown[] = [
    undefined,
    7,
    {},
    '',
    'x',
    PARENT.toUpperCase(),
    `${PARENT}-more`,
    ` ${PARENT}`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`,
  ];
  for (const text of WRONG)
    it(`is not ${JSON.stringify(text)?.slice(0, 60)}`, () => {
      expect(parseTraceparent(text)).toBeUndefined();
      expect(readTraceMeta({ traceparent: text, tracestate: 'a=1' })).toEqual({});
    });
});

describe('tracestate and baggage', () => {
  it('are read if they are well-formed', () => {
    const all = { traceparent: PARENT, tracestate: 'a=1,b@c=2', baggage: 'k = v;p=1 , other=%20' };
    expect(readTraceMeta({ ...all, other: 1 })).toEqual(all);
    expect(readTraceMeta({ traceparent: PARENT, tracestate: 'a=1, b=2' }).tracestate).toBe('a=1,b=2');
    expect(readTraceMeta(undefined)).toEqual({});
  });

  it('are left out if they are too large or malformed', () => {
    const members = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}=v`).join(',');
    for (const tracestate of ['no pair', 'A=1', members(33), `a=${'x'.repeat(600)}`, 'a=\u0001', 7])
      expect(readTraceMeta({ traceparent: PARENT, tracestate })).toEqual({ traceparent: PARENT });
    expect(readTraceMeta({ baggage: members(64) })).toEqual({ baggage: members(64) });
    for (const baggage of [
      'no pair',
      '=v',
      'k=ä',
      'k="v"',
      members(65),
      `k=${'v'.repeat(8_192)}`,
      'k=v;\n',
      ['k=v'],
    ])
      expect(readTraceMeta({ baggage })).toEqual({});
  });
});
