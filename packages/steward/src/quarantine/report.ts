/**
 * The result of a test, as plain data of bounded size. The verdict is that of the worst finding:
 *
 * | level  | verdict | findings                                                                                      |
 * | ------ | ------- | --------------------------------------------------------------------------------------------- |
 * | `fail` | fail    | cannot connect; protocol violation; crash or flood; hidden text or injected instructions;      |
 * |        |         | a name of another server's tool or of a well-known built-in; a secret in a text                |
 * | `warn` | warn    | problems of schemas; no sandbox; slow start; much memory; no annotations; failed sample calls; |
 * |        |         | definitions that change; unusable entries; other text on stdout; dangerous names               |
 * | `note` | pass    | what a reader may want to know: a tool's own error, tools that were not called                 |
 */
import { type Redactor, showLine, showText } from 'turnbuckle/host';

export const VERDICTS = ['pass', 'warn', 'fail'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Finding {
  readonly level: 'fail' | 'warn' | 'note';
  /** What it is about: `connect`, `tool echo`, `schema of echo`. */
  readonly where: string;
  readonly text: string;
}

export interface SampledCall {
  /** What was sent, shortened for display. */
  readonly arguments: unknown;
  /** False: no result, or a result that says that the tool failed. */
  readonly ok: boolean;
  readonly ms: number;
  /** Why it is not ok. */
  readonly error?: string;
}

export interface TestedTool {
  readonly name: string;
  readonly problems: readonly string[];
  readonly sampled?: SampledCall;
}

export interface TestReport {
  readonly verdict: Verdict;
  /** From the start of the process to the first list of tools; absent if it never got that far. */
  readonly startMs?: number;
  /** Of all processes of the server together, after listing; absent where the platform does not tell. */
  readonly memoryMb?: number;
  readonly tools: readonly TestedTool[];
  readonly resources: number;
  readonly prompts: number;
  readonly findings: readonly Finding[];
  readonly sandboxed: boolean;
  readonly note?: string;
}

export type ReportDraft = Omit<TestReport, 'verdict'>;

const MAX_TOOLS = 200;
const MAX_PROBLEMS = 12;
const MAX_FINDINGS = 100;
const MAX_NAME_LENGTH = 120;
const MAX_TEXT_LENGTH = 400;
const MAX_ARGUMENTS_LENGTH = 2_000;
/** As the redactor: a shorter value could be any word. */
const MIN_SECRET_LENGTH = 6;
const ORDER: ReadonlyArray<Finding['level']> = ['fail', 'warn', 'note'];

export function verdictOf(findings: readonly Finding[]): Verdict {
  const worst = ORDER.find((level) => findings.some((finding) => finding.level === level));
  return worst === undefined || worst === 'note' ? 'pass' : worst;
}

export interface KnownSecrets {
  /** Removes them in every notation. */
  readonly redactor: Redactor;
  /** The same values, for a last check. */
  readonly values: readonly string[];
}

/** The report without secrets, hidden characters and excess: everything in a draft may come from the server. */
export function toReport(draft: ReportDraft, { redactor, values }: KnownSecrets): TestReport {
  const show = (text: string, width: number): string => showLine(redactor.text(text), width);
  const { tools, findings, note, ...facts } = draft;
  const shown: TestReport = {
    verdict: verdictOf(findings),
    ...facts,
    tools: tools.slice(0, MAX_TOOLS).map(({ name, problems, sampled }) => ({
      name: show(name, MAX_NAME_LENGTH),
      problems: problems.slice(0, MAX_PROBLEMS).map((problem) => show(problem, MAX_TEXT_LENGTH)),
      ...(sampled && { sampled: showCall(sampled, redactor) }),
    })),
    findings: shortened(findings).map(({ level, where, text }) => ({
      level,
      where: show(where, MAX_NAME_LENGTH),
      text: show(text, MAX_TEXT_LENGTH),
    })),
    ...noteOf(note, tools.length),
  };
  const clean = withoutValues(shown, values);
  return redactor.knows(clean) ? withheld(clean) : clean;
}

/** A value that is an ordinary word is redacted here only: what it says in a report is not worth the risk. */
function withoutValues(report: TestReport, values: readonly string[]): TestReport {
  const secrets = values.filter((value) => value.length >= MIN_SECRET_LENGTH);
  const take = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
  const { tools, findings } = report;
  return {
    ...report,
    tools: tools.map(({ name, problems, sampled }) => ({
      name: take(name),
      problems: problems.map(take),
      ...(sampled && {
        sampled: {
          ...sampled,
          arguments: mapTexts(sampled.arguments, take),
          ...(sampled.error !== undefined && { error: take(sampled.error) }),
        },
      }),
    })),
    findings: findings.map(({ level, where, text }) => ({ level, where: take(where), text: take(text) })),
  };
}

/** The worst first, so that the limit never hides why a test failed. */
function shortened(findings: readonly Finding[]): readonly Finding[] {
  const sorted = ORDER.flatMap((level) => findings.filter((finding) => finding.level === level));
  if (sorted.length <= MAX_FINDINGS) return sorted;
  const more = sorted.length - MAX_FINDINGS;
  return [
    ...sorted.slice(0, MAX_FINDINGS),
    { level: 'note', where: 'report', text: `${more} more findings are not listed.` },
  ];
}

function noteOf(note: string | undefined, tools: number): Pick<TestReport, 'note'> {
  const more = tools > MAX_TOOLS ? `Only the first ${MAX_TOOLS} of ${tools} tools are listed.` : undefined;
  const texts = [note, more].filter((text) => text !== undefined);
  return texts.length === 0 ? {} : { note: texts.join(' ') };
}

function showCall({ arguments: sent, ok, ms, error }: SampledCall, redactor: Redactor): SampledCall {
  // Names and default values in arguments are those of the server's schema.
  const shown = mapTexts(redactor.truncated(sent, MAX_ARGUMENTS_LENGTH).value, showText);
  return {
    arguments: shown,
    ok,
    ms: Math.round(ms),
    ...(error !== undefined && { error: showLine(redactor.text(error), MAX_TEXT_LENGTH) }),
  };
}

/** A copy of JSON with every text and name changed. Truncated values are not deep. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((member) => mapTexts(member, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [change(key), mapTexts(member, change)]),
  );
}

/** A last line of defence: escaping or shortening must never bring a secret back. */
function withheld({ sandboxed, resources, prompts }: TestReport): TestReport {
  const text = "The server's text contains a secret that was passed to it. The text is not shown.";
  return {
    verdict: 'fail',
    tools: [],
    resources,
    prompts,
    findings: [{ level: 'fail', where: 'report', text }],
    sandboxed,
  };
}
