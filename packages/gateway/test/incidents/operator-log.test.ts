import type { IncidentRecord } from '@turnbuckle/store';
import fc from 'fast-check';
import { createRedactor } from 'turnbuckle/host';
import { describe, expect, it, vi } from 'vitest';
import type { Incident } from '../../src/incidents/incident.js';
import { OperatorLog, type OperatorLogOptions } from '../../src/incidents/operator-log.js';

const TIME = Date.parse('2026-01-31T12:00:00Z');
const SECRET = 'hunter2-is-the-secret-of-this-test';

interface Line {
  readonly level: string;
  readonly kind?: string;
  readonly text: string;
  readonly next?: string;
}

async function openLog(options: Partial<OperatorLogOptions> = {}) {
  const lines: string[] = [];
  const kept: IncidentRecord[] = [];
  const clock = { now: 0 };
  const redactor = createRedactor();
  redactor.learn(SECRET);
  const log = await OperatorLog.open({
    output: { write: (line) => void lines.push(line) },
    level: undefined,
    redact: (value) => redactor.value(value),
    now: () => TIME,
    monotonicNow: () => clock.now,
    ...options,
  });
  log.keepIn({ recordIncident: (incident) => kept.push(incident) > 0 });
  return { log, lines, kept, clock, parsed: () => lines.map((line) => JSON.parse(line) as Line) };
}

const failed: Incident = {
  level: 'error',
  kind: 'server-failed',
  server: 'web',
  code: 'CONNECT_FAILED',
  text: 'Cannot connect.',
  next: 'turnbuckle doctor web',
};

describe("the operator's log", () => {
  it('writes one line of JSON for each incident, and keeps it', async () => {
    const { log, lines, kept } = await openLog();
    log.report(failed);
    expect(lines).toEqual([
      '{"level":"error","time":"2026-01-31T12:00:00.000Z","kind":"server-failed","server":"web","code":"CONNECT_FAILED","next":"turnbuckle doctor web","text":"Cannot connect."}\n',
    ]);
    expect(kept).toEqual([{ at: TIME, ...failed }]);
  });

  it.each([
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    [undefined, ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('at the level %s writes %s, and keeps all incidents', async (level, expected) => {
    const { log, parsed, kept } = await openLog({ level });
    for (const one of ['error', 'warn', 'info'] as const) log.report({ ...failed, level: one });
    log.debug('web', 'detail');
    expect(parsed().map((line) => line.level)).toEqual(expected);
    expect(kept).toHaveLength(3);
  });

  it('takes the level that was given for this run before that of the configuration', async () => {
    const lines: string[] = [];
    const output = { level: 'error', write: (line: string) => void lines.push(line) } as const;
    const { log } = await openLog({ output, level: 'debug' });
    log.setLevel('debug');
    log.report({ ...failed, level: 'info' });
    expect(lines).toEqual([]);
    const other = await openLog({ level: 'error' });
    other.log.setLevel('info');
    other.log.report({ ...failed, level: 'info' });
    expect(other.lines).toHaveLength(1);
  });

  it('has no secrets, control characters or long texts, whatever it is given', async () => {
    const { log, lines, kept, clock } = await openLog();
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3_000 }),
        fc.nat(2_500),
        fc.constantFrom('', '\u001b[2J', '\u009b1A', '\u202e', '\n{"level":"error"}\n', '\0'),
        (text, at, evil) => {
          clock.now += 60_000;
          const hostile = `${text.slice(0, at)}${evil}${SECRET}${evil}${text.slice(at)}`;
          log.report({ ...failed, text: hostile, next: hostile });
          const record = kept.at(-1);
          for (const shown of [record?.text ?? '', record?.next ?? '', lines.at(-1)?.slice(0, -1) ?? '']) {
            expect(shown).not.toContain(SECRET);
            expect(shown).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
          }
          expect(record?.text.length).toBeLessThanOrEqual(1_000);
          expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ kind: 'server-failed' });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('does not keep half of a secret at the end of a long text', async () => {
    const { log, kept } = await openLog();
    for (let start = 1_950; start < 2_010; start += 1) {
      const text = `${'word '.repeat(500).slice(0, start)}${SECRET} ${'more '.repeat(500)}`;
      log.report({ ...failed, server: `s${start}`, text });
    }
    for (const { text } of kept) expect(text).not.toContain('hunter2');
  });
});

describe('a flood of incidents', () => {
  it('of one source is counted, says so, and hides no other source', async () => {
    const { log, parsed, kept, clock } = await openLog();
    for (let index = 0; index < 10_000; index += 1) log.report({ ...failed, text: `Failure ${index}` });
    log.report({ ...failed, server: 'other' });
    expect(parsed()).toHaveLength(21);
    clock.now = 60_000;
    log.report({ ...failed, text: 'again' });
    const [suppressed, again] = parsed().slice(-2);
    expect(suppressed).toMatchObject({
      level: 'warn',
      kind: 'suppressed',
      text: 'Suppressed 9980 more "server-failed" incidents for server "web" because there were too many. The latest: Failure 9999',
      next: 'See the current state: turnbuckle list',
    });
    expect(again).toMatchObject({ text: 'again' });
    expect(kept).toHaveLength(23);
  });

  it('is reported a minute later although nothing follows, and at the end', async () => {
    vi.useFakeTimers();
    try {
      const { log, parsed } = await openLog();
      for (let index = 0; index < 25; index += 1) log.report(failed);
      vi.advanceTimersByTime(60_000);
      expect(parsed().at(-1)).toMatchObject({
        kind: 'suppressed',
        text: expect.stringMatching(/^Suppressed 5 more/),
      });
      log.report(failed);
      log.close();
      expect(parsed().at(-1)).toMatchObject({
        kind: 'suppressed',
        text: expect.stringMatching(/^Suppressed 1 more "server-failed" incident for/),
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('at the level debug is bounded as well', async () => {
    const { log, lines } = await openLog({ level: 'debug' });
    for (let index = 0; index < 10_000; index += 1) log.debug('web', `state ${index}`);
    expect(lines).toHaveLength(20);
  });
});
