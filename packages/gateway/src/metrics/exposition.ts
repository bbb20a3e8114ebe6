/** The Prometheus text format. No tool name can break a line. */

export type Labels = Readonly<Record<string, string>>;

/** A metric family: `lines` is evaluated on each scrape. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly samples: () => Iterable<Sample>;
}

export interface Sample {
  /** A suffix of the family's name, such as `_sum`. */
  readonly suffix?: string;
  /** As made by `labelText`. */
  readonly labels: string;
  readonly value: number;
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const MAX_LABEL_CHARACTERS = 200;
/** Control characters, direction marks and lone surrogates do not belong in a label. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

export function renderFamilies(families: Iterable<Family>): string {
  let text = '';
  for (const family of families) {
    const { name, type, help } = family;
    const lines = renderSamples(family);
    if (lines !== '') text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
  }
  return text;
}

/** Empty if the system cannot read it now, such as without a free file descriptor: that must not hide the others. */
function renderSamples(family: Family): string {
  let lines = '';
  try {
    for (const { suffix = '', labels, value } of family.samples())
      lines += `${family.name}${suffix}${labels === '' ? '' : `{${labels}}`} ${formatNumber(value)}\n`;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return '';
  }
  return lines;
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

/** Label names are ours, values may be untrusted. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

/** An enum as numbers: a sample for each possible value, 1 for the current one. */
export function stateSamples(
  words: readonly string[],
  { labels, label, value }: { readonly labels: Labels; readonly label: string; readonly value: string },
): Sample[] {
  return words.map((word) => ({
    labels: labelText({ ...labels, [label]: word }),
    value: word === value ? 1 : 0,
  }));
}

function escapeLabel(value: string): string {
  const short = value.length > MAX_LABEL_CHARACTERS ? `${value.slice(0, MAX_LABEL_CHARACTERS - 1)}…` : value;
  return short.replace(/\n/g, ' ').replace(HIDDEN, '\ufffd').replace(/\\/g, '\\\\').replace(/"/g, '\\"');
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
