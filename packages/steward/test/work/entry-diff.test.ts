import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffEntries, isSameEntry } from '../../src/work/entry-diff.js';

// requirement E4, K2
describe('the difference between two entries', () => {
  it('shows plain variables and headers in full', () => {
    const long = `https://collect.example/${'a/'.repeat(400)}end`;
    const before = { command: 'node', env: { MODE: 'read', KEPT: 'yes' } };
    const after = { command: 'node', env: { MODE: 'write', KEPT: 'yes', UPLOAD: long } };
    expect(diffEntries(before, after)).toEqual([
      '- env.MODE: "read"',
      '+ env.MODE: "write"',
      `+ env.UPLOAD: ${JSON.stringify(long)}`,
    ]);
    const remote = (share: string) => ({ url: 'https://a.example', headers: { 'X-Share': share } });
    expect(diffEntries(remote('no'), remote('all'))).toEqual([
      '- headers.X-Share: "no"',
      '+ headers.X-Share: "all"',
    ]);
  });

  it('names a secret that changes without showing it', () => {
    const entry = (key: string, token: string) => ({
      command: 'node',
      args: ['--token', token],
      env: { API_KEY: key },
      credentials: { ada: { env: { API_KEY: key } } },
    });
    const lines = diffEntries(entry('first-4711', 'one-4711'), entry('second-4711', 'two-4711'));
    expect(lines).toEqual([
      '~ args: changed (hidden)',
      '~ credentials.ada.env.API_KEY: changed (hidden)',
      '~ env.API_KEY: changed (hidden)',
    ]);
    const address = (key: string, path: string) => ({ url: `https://a.example/${path}?key=${key}` });
    const both = diffEntries(address('first-4711', 'a'), address('second-4711', 'b'));
    expect(both).toHaveLength(3);
    expect(both.join()).not.toContain('4711');
    expect(both[2]).toBe('~ url: the hidden part may have changed, too');
  });

  it('shows placeholders, and hides a text around one', () => {
    const entry = (text: string) => ({ command: 'node', env: { API_KEY: text } });
    expect(diffEntries(entry('${secret:a}'), entry('${secret:b}'))).toEqual([
      '- env.API_KEY: "${secret:a}"',
      '+ env.API_KEY: "${secret:b}"',
    ]);
    expect(diffEntries(entry('${secret:a}'), entry('hunter2${secret:a}')).join()).not.toContain('hunter2');
  });

  it('is empty only if nothing differs, whatever the entries are', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const entry = fc.dictionary(
      fc.constantFrom('command', 'args', 'env', 'headers', 'url', 'token', 'credentials', 'sandbox'),
      fc.oneof(value, fc.dictionary(fc.constantFrom('A', 'API_KEY', 'b.c'), value)),
    );
    fc.assert(
      fc.property(entry, entry, (left, right) => {
        const same = isSameEntry(left, right);
        expect(diffEntries(left, right).length === 0).toBe(same);
        expect(diffEntries(left, structuredClone(left))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});
