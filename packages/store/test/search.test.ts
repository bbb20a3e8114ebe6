import { temporaryDirectory } from '@turnbuckle/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallLog, LogReader } from '../src/index.js';
import { record } from './record.js';

let reader: LogReader;
let home: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  home = await temporaryDirectory();
  const log = new CallLog({ directory: home.path });
  log.append(record(1, { arguments: '{"path":"/etc/hosts","note":"NEAR the river"}', result: '"plain"' }));
  log.append(record(2, { arguments: '{"title":"Straße café 東京"}', tool: 'create_issue', result: '"x"' }));
  await log.flush();
  await log.close();
  const opened = await LogReader.open(home.path);
  if (opened === undefined) throw new Error('there is no log');
  reader = opened;
});

afterAll(async () => {
  reader.close();
  await home.remove();
});

const find = (text: string): unknown[] => reader.find({ text }).map(({ id }) => id);

describe('a search', () => {
  it.each([
    ['etc hosts', ['call-1']],
    ['hosts etc', ['call-1']],
    ['hos', ['call-1']],
    ['near', ['call-1']],
    ['create_issue', ['call-2']],
    ['cafe', ['call-2']],
    ['東京', ['call-2']],
    ['etc missing', []],
    ['"', []],
    ['*', []],
    ['NEAR(', ['call-1']],
    ['NEAR("a" "b", 5)', []],
    ['etc AND hosts', []],
    ['^etc', ['call-1']],
    ['path:etc', ['call-1']],
    ['{server tool}: etc', []],
    ['-etc', ['call-1']],
    ["etc'; DROP TABLE invocations; --", []],
    ['_', []],
    ['\u0000', []],
    ['', []],
  ])('for %j finds %j', (text, expected) => {
    expect(find(text)).toEqual(expected);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z"*^():{}+ -]*$/)),
        (text) => {
          find(text);
        },
      ),
      { numRuns: 500 },
    );
    find('word '.repeat(20_000));
    find('x'.repeat(100_000));
  });
});
