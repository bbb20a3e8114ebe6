/** Values for the fields of an install approval: from arguments, from stdin, and asked for. Secrets never from arguments. */
import { text } from 'node:stream/consumers';
import type { InputField } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import { isRecord, shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { PendingInstall } from './install-approval-lines.js';

type Values = Readonly<Record<string, string>>;

/** Of `field=value` words. An error repeats no value: it may be a secret. */
export function valuesFromWords(fields: readonly InputField[], words: readonly string[]): Values {
  const pairs = words.map((word): [string, string] => {
    const cut = word.indexOf('=');
    if (cut <= 0) throw invalid('Invalid argument: expected field=value.', 'Nothing was approved.');
    return [word.slice(0, cut), word.slice(cut + 1)];
  });
  for (const [name] of pairs) {
    const field = fields.find((one) => one.name === name);
    if (field === undefined) throw unknownField(name, fields);
    if (field.isSecret)
      throw invalid(
        `"${name}" is a secret, and secrets cannot be passed as arguments.`,
        'The value would be visible to other processes and in your shell history. Omit the field to be prompted, or use --secrets-stdin.',
      );
  }
  return Object.fromEntries(pairs);
}

/** A JSON object of texts by field. */
export async function valuesFromStdin(fields: readonly InputField[]): Promise<Values> {
  const given = process.stdin.isTTY ? '' : await text(process.stdin);
  const values = parseValues(given);
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) throw unknownField(unknown, fields);
  return values;
}

function parseValues(given: string): Values {
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    // Neither the text nor where it is wrong: it has secrets.
    value = undefined;
  }
  if (isRecord(value) && Object.values(value).every((one) => typeof one === 'string')) return value as Values;
  throw invalid(
    'With --secrets-stdin, stdin must contain a JSON object with string values, such as { "API_KEY": "…" }.',
    'To be prompted in a terminal, omit --secrets-stdin. To read the values from a file: turnbuckle steward approve <id> --secrets-stdin < values.json',
  );
}

export interface AskedFields {
  readonly approval: PendingInstall;
  readonly given: Values;
  /** Also optional ones. */
  readonly all: boolean;
}

/** Asks for what is missing on a terminal; elsewhere ARGUMENTS_INVALID for a required value. */
export async function completeValues(
  { output }: CommandContext,
  { approval, given, all }: AskedFields,
): Promise<Values> {
  const open = approval.fields.filter(({ name }) => !Object.hasOwn(given, name));
  const needed = open.filter((field) => field.isRequired && field.default === undefined);
  if (!output.interactive) {
    if (needed.length > 0) throw missing(approval, needed);
    return given;
  }
  const values: Record<string, string> = { ...given };
  for (const field of all ? open : needed) {
    const value = await output.ask(() => askField(field));
    if (value !== undefined) values[field.name] = value;
  }
  return values;
}

/** Undefined: left open. */
async function askField(field: InputField): Promise<string | undefined> {
  const { name, description, isSecret, isRequired, default: usual, choices = [] } = field;
  const { askHidden, askOneOf, askText } = await import('../terminal/ask.js');
  const isNeeded = isRequired && usual === undefined;
  const what = description === undefined ? '' : `: ${showLine(description, 200)}`;
  const message = `${showLine(name, 60)}${isNeeded ? '' : ' (optional)'}${what}`;
  const refuse = (answer: string): string | undefined =>
    answer === '' && isNeeded ? 'A value is required.' : undefined;
  const answer = isSecret
    ? await askHidden(message, refuse)
    : choices.length > 0 && isNeeded
      ? await askOneOf(message, choices)
      : await askText(message, { defaultValue: usual, validate: refuse });
  // The prompt answers nothing at all with undefined.
  return (answer ?? '') === '' ? undefined : answer;
}

function missing({ id, fields }: PendingInstall, needed: readonly InputField[]): TurnbuckleError {
  const names = needed.map(({ name }) => `"${name}"`).join(', ');
  const plain = needed.filter(({ isSecret }) => !isSecret).map(({ name }) => ` ${shellQuote(name)}=…`);
  const hasSecret = fields.some(({ isSecret, isRequired }) => isSecret && isRequired);
  const flag = hasSecret ? ' --secrets-stdin' : '';
  return invalid(
    `A value is required for ${names}.`,
    `Run the command in a terminal to be prompted, or pass the values: turnbuckle steward approve ${shellQuote(id)}${plain.join('')}${flag}`,
  );
}

const unknownField = (name: string, fields: readonly InputField[]): TurnbuckleError =>
  invalid(
    `"${name}" is not a field of this approval.`,
    fields.length === 0
      ? 'The approval has no fields.'
      : `Available fields: ${fields.map((field) => field.name).join(', ')}`,
  );

const invalid = (message: string, hint: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', message, { hint });
