/** Writes what was answered with "always" into a configuration file, with the user's comments and layout kept. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../is-record.js';
import { parseDocument } from './document.js';
import { editConfig } from './edit/config-editor.js';
import { setKey } from './edit/set-key.js';
import type { PlacedRule, Rule } from './rule-schema.js';

/**
 * Puts the rule before the one that asked, if that stands in this file, so that it is asked first and stands
 * above nothing else; else at the end. A rule that is there already is not written again.
 */
export function keepRule(file: string, rule: Rule, asked: PlacedRule | undefined): Promise<boolean> {
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
  const place = asked === undefined ? -1 : placeOf(written, asked);
  const rules = place === -1 ? [...written, rule] : written.toSpliced(place, 0, rule);
  return setKey(text, ['rules'], rules);
}

/** Where the rule stands now: the file may have changed since it was read. */
function placeOf(written: readonly unknown[], { rule, position }: PlacedRule): number {
  if (isDeepStrictEqual(written[position], rule)) return position;
  return written.findIndex((one) => isDeepStrictEqual(one, rule));
}
