/** A JSON value as text in the layout of the file. */

import { isRecord } from '../../json/is-record.js';
import { type Layout, LINE_WIDTH, type Spacing } from './layout.js';

const SPACED: Spacing = { colon: ': ', comma: ', ', pad: ' ' };

/** Over several lines: objects always, lists of plain values only if they do not fit on one. */
export function renderLines(value: unknown, indent: string, layout: Layout): string {
  const inner = indent + layout.unit;
  const block = (open: string, parts: readonly string[], close: string): string =>
    [open, parts.map((part) => inner + part).join(`,${layout.eol}`), indent + close].join(layout.eol);
  if (Array.isArray(value) && value.length > 0) {
    const line = renderLine(value, SPACED);
    const plain = value.every((item) => typeof item !== 'object' || item === null);
    if (plain && indent.length + line.length <= LINE_WIDTH) return line;
    return block(
      '[',
      value.map((item: unknown) => renderLines(item, inner, layout)),
      ']',
    );
  }
  if (!isRecord(value) || Object.keys(value).length === 0) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${renderLines(item, inner, layout)}`,
  );
  return block('{', members, '}');
}

/** On one line. */
export function renderLine(value: unknown, spacing: Spacing): string {
  if (Array.isArray(value))
    return `[${value.map((item: unknown) => renderLine(item, spacing)).join(spacing.comma)}]`;
  if (!isRecord(value) || Object.keys(value).length === 0) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}${spacing.colon}${renderLine(item, spacing)}`,
  );
  return `{${spacing.pad}${members.join(spacing.comma)}${spacing.pad}}`;
}
