/** The text format that Prometheus reads. Whatever a server calls its tools, a line stays a line. */

export type Labels = Readonly<Record<string, string>>;

/** Numbers under one name: `lines` are made when somebody asks for them. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly samples: () => Iterable<Sample>;
}

export interface Sample {
  /** Behind the family's name, such as `_sum`. */
  readonly suffix?: string;
  /** As `labelText` makes them. */
  readonly labels: string;
  readonly value: number;
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const LONGEST_LABEL = 200;
/** Control characters, direction marks, and halves of pairs: they have no business in a label. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

export function renderFamilies(families: Iterable<Family>): string {
  let text = '';
  for (const family of families) {
    const { name, type, help } = family;
    let lines = '';
    for (const { suffix = '', labels, value } of family.samples())
      lines += `${name}${suffix}${labels === '' ? '' : `{${labels}}`} ${formatNumber(value)}\n`;
    if (lines !== '') text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
  }
  return text;
}

/** Names are ours, values may be anybody's. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

/** A word as numbers: a sample for each that it could be, 1 for the one that it is. */
export function oneOf(
  words: readonly string[],
  { labels, label, value }: { readonly labels: Labels; readonly label: string; readonly value: string },
): Sample[] {
  return words.map((word) => ({
    labels: labelText({ ...labels, [label]: word }),
    value: word === value ? 1 : 0,
  }));
}

function escapeLabel(value: string): string {
  const short = value.length > LONGEST_LABEL ? `${value.slice(0, LONGEST_LABEL - 1)}…` : value;
  return short.replace(/\n/g, ' ').replace(HIDDEN, '\ufffd').replace(/\\/g, '\\\\').replace(/"/g, '\\"');
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
