import fc from 'fast-check';
import { createRedactor } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { type Finding, type ReportDraft, toReport, verdictOf } from '../../src/quarantine/report.js';

const finding = (level: Finding['level'], text = 'text'): Finding => ({ level, where: 'here', text });
const EMPTY: ReportDraft = { tools: [], resources: 0, prompts: 0, findings: [], sandboxed: true };

const report = (draft: Partial<ReportDraft>, values: readonly string[] = []) => {
  const redactor = createRedactor();
  for (const value of values) redactor.learn(value);
  return toReport({ ...EMPTY, ...draft }, { redactor, values });
};

/** What a report itself consists of. */
const OWN_WORDS = 'arguments problems sampled [redacted]';

describe('the verdict is that of the worst finding:', () => {
  it.each([
    [[], 'pass'],
    [['note'], 'pass'],
    [['note', 'warn', 'note'], 'warn'],
    [['warn', 'fail', 'note'], 'fail'],
  ] as const)('%j is %s', (levels, verdict) => {
    expect(verdictOf(levels.map((level) => finding(level)))).toBe(verdict);
  });
});

describe('a report', () => {
  it('has the failures first, and a limited number of findings', () => {
    const many = Array.from({ length: 300 }, (_, index) => finding('warn', `w${index}`));
    const { findings, verdict } = report({ findings: [...many, finding('fail', 'last')] });
    expect(verdict).toBe('fail');
    expect(findings[0]?.text).toBe('last');
    expect(findings).toHaveLength(101);
    expect(findings.at(-1)?.text).toBe('201 more findings are not listed.');
  });

  it('shows nothing hidden and no long text', () => {
    const tools = [
      {
        name: 'a\u202eb',
        problems: ['x'.repeat(9_999)],
        sampled: { arguments: { 'k\u0007': '\u001b[2J' }, ok: true, ms: 1.4 },
      },
    ];
    const shown = report({ tools }).tools[0];
    expect(shown?.name).toBe('a\\u{202e}b');
    expect(shown?.problems[0]?.length).toBeLessThanOrEqual(400);
    expect(shown?.sampled).toEqual({ arguments: { 'k\\u{7}': '\\u{1b}[2J' }, ok: true, ms: 1 });
  });

  // requirement E4
  it('contains no secret, whatever surrounds it', () => {
    const secret = fc
      .string({ minLength: 6, maxLength: 40 })
      .filter((text) => /^[\w!#%+,./:;=?@^|~-]+$/.test(text) && !OWN_WORDS.includes(text));
    const around = fc.string({ maxLength: 300 });
    const property = fc.property(secret, around, around, (value, before, after) => {
      const text = `${before}${value}${after}`;
      const sampled = { arguments: { [text]: [text] }, ok: false, ms: 1, error: text };
      const made = report(
        {
          findings: [{ level: 'warn', where: text, text }],
          tools: [{ name: text, problems: [text], sampled }],
        },
        [value],
      );
      expect(textOf(made.tools) + textOf(made.findings)).not.toContain(value);
    });
    fc.assert(property, { numRuns: 200 });
  });
});

/** All texts and names in it, unescaped. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, member]) => `\n${Array.isArray(value) ? '' : key}\n${textOf(member)}`)
    .join('');
}
