/** Prompts for missing arguments one by one, with their description from the schema. */
import { askOneOf, askText } from '../terminal/ask.js';
import { describeArgument } from './tool-arguments.js';

/** The values by name, read as the schema says. */
export async function askArguments(
  keys: readonly string[],
  schema: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const values: Array<[key: string, value: unknown]> = [];
  for (const key of keys) {
    const { types, description, choices, parse, fits } = describeArgument(key, schema);
    const kind = choices === undefined && types.length > 0 ? ` (${types.join(' or ')})` : '';
    const message = `${key}${kind}${description === undefined ? '' : `: ${description}`}`;
    const validate = (answer: string): string | undefined =>
      fits(parse(answer)) ? undefined : `The value must be ${types.map(withArticle).join(' or ')}.`;
    const answer =
      choices === undefined ? await askText(message, { validate }) : await askOneOf(message, choices);
    values.push([key, parse(answer)]);
  }
  return Object.fromEntries(values);
}

const withArticle = (type: string): string =>
  type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
