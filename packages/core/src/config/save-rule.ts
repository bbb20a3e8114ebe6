/** Writes an "always" rule to a configuration file, preserving comments and layout. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../json/is-record.js';
import { editConfig } from './edit/config-editor.js';
import { setKey } from './edit/set-key.js';
import { parseDocument } from './layers/document.js';
import type { PlacedRule, Rule } from './schema/rule-schema.js';

/**
 * Inserts the rule before the one that asked, if that is in this file, so that it takes precedence over that one
 * only; otherwise at the end. An existing rule is not repeated.
 */
export function saveRule(file: string, rule: Rule, asked: PlacedRule | undefined): Promise<boolean> {
  return editConfig(file, (text) => withRule(text, rule, asked?.file === file ? asked : undefined));
}

function withRule(text: string, rule: Rule, asked: PlacedRule | undefined): string {
  const { value } = parseDocument(text);
  const written = isRecord(value) && Array.isArray(value.rules) ? value.rules : [];
  const { reason: _reason, ...meant } = rule;
  const isThere = written.some((one) => {
    if (!isRecord(one)) return false;
    const { reason: _why, ...rest } = one;
    return isDeepStrictEqual(rest, meant);
  });
  if (isThere) return text;
  const place = asked === undefined ? -1 : indexOfRule(written, asked);
  const rules = place === -1 ? [...written, rule] : written.toSpliced(place, 0, rule);
  return setKey(text, ['rules'], rules);
}

/** The current position of the rule: the file may have changed since it was read. */
function indexOfRule(written: readonly unknown[], { rule, position }: PlacedRule): number {
  if (isDeepStrictEqual(written[position], rule)) return position;
  return written.findIndex((one) => isDeepStrictEqual(one, rule));
}
