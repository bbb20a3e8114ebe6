/** Arguments that are missing, asked for one by one: with what the schema says about each. */
import { askOneOf, askText } from './ask.js';
import { argumentOf } from './tool-arguments.js';

/** The values by name, read as the schema says. */
export async function askArguments(
  keys: readonly string[],
  schema: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const values: Array<[key: string, value: unknown]> = [];
  for (const key of keys) {
    const { types, description, choices, read, fits } = argumentOf(key, schema);
    const kind = choices === undefined && types.length > 0 ? ` (${types.join(' or ')})` : '';
    const message = `${key}${kind}${description === undefined ? '' : `: ${description}`}`;
    const refuse = (answer: string): string | undefined =>
      fits(read(answer)) ? undefined : `It must be ${types.map(withArticle).join(' or ')}.`;
    const answer =
      choices === undefined ? await askText(message, { refuse }) : await askOneOf(message, choices);
    values.push([key, read(answer)]);
  }
  return Object.fromEntries(values);
}

const withArticle = (type: string): string =>
  type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
