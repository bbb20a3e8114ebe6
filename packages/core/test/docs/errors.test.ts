import type { ErrorCode } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { readText } from './repository.js';

const codes = Object.keys(ERRORS) as ErrorCode[];
const sections = readText('docs/errors.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ code: text.slice(0, text.indexOf('\n')).trim(), text }));

/** The row `| 404 | -32602 | 11 | no |` of a section, as the facts it states. */
function statedFacts(text: string): unknown {
  const row = /^\| (\d+) +\| (-?\d+) +\| (\d+) +\| (yes|no) +\|$/m.exec(text);
  if (row === null) return 'no row of facts';
  const [, http, rpc, exit, retryable] = row;
  return { http: Number(http), rpc: Number(rpc), exit: Number(exit), retryable: retryable === 'yes' };
}

describe('docs/errors.md', () => {
  it('has a heading for each code of the table, in its order, and no other', () => {
    expect(codes.length).toBeGreaterThan(0);
    expect(sections.map(({ code }) => code)).toEqual(codes);
  });

  it.each(codes)('states the facts of %s', (code) => {
    const section = sections.find((one) => one.code === code);
    expect(statedFacts(section?.text ?? '')).toEqual(ERRORS[code]);
  });

  it.each(codes)('says what %s means, when it occurs and what to do', (code) => {
    const text = sections.find((one) => one.code === code)?.text ?? '';
    expect(text).toMatch(/\*\*When:\*\* \S/);
    expect(text).toMatch(/\*\*Do:\*\* \S/);
  });
});
