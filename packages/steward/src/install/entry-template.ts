/**
 * The config entry of a server before its inputs are known, and what it becomes with them. A text of a record or of a
 * person is always literal: its `${` is escaped, so that it can never name a variable or a secret. Pure.
 */
import { TurnbuckleError } from 'turnbuckle';

/** A value that a person has to give, or may. */
export interface InputField {
  readonly name: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly description?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly format?: string;
  /** Of a secret: its name in the vault; the entry has only a placeholder. */
  readonly secretName?: string;
  /** In a question: a path given here becomes writable in the sandbox, or is used as it is; absent: not on this machine. */
  readonly usedIn?: 'sandbox' | 'machine';
}

/** Literal texts, and inputs between them. */
export type TextTemplate = ReadonlyArray<string | { readonly input: string }>;

export interface LocalTemplate {
  readonly type: 'stdio';
  readonly command: string;
  /** Groups of words: a group is left out if one of its inputs has no value. */
  readonly args: ReadonlyArray<readonly TextTemplate[]>;
  readonly env: Readonly<Record<string, TextTemplate>>;
  /** Directories that a sandbox has to show; absent: without a sandbox. */
  readonly sandboxRead?: readonly string[];
}

export interface RemoteTemplate {
  readonly type: 'http' | 'sse';
  readonly url: TextTemplate;
  readonly headers: Readonly<Record<string, TextTemplate>>;
}

export type EntryTemplate = LocalTemplate | RemoteTemplate;

/** What a person answered. */
export interface InputAnswers {
  /** Of inputs that are not secret. */
  readonly values?: Readonly<Record<string, string>> | undefined;
  /** Names of optional secret inputs that are stored in the vault. Required ones always are. */
  readonly secrets?: readonly string[] | undefined;
  /** Directories that a person lets the server write to in its sandbox. */
  readonly granted?: readonly string[] | undefined;
}

/** A text as a literal of a config file. */
export const escapePlaceholders = (text: string): string => text.replaceAll('${', () => '$${');

const MAX_VALUE_LENGTH = 8_192;
/** A value in an address must not change its host or path. */
const URL_VALUE = /^[A-Za-z0-9._~-]+$/;

type FilledValue = { readonly literal: string } | { readonly placeholder: string };
type Lookup = (name: string) => FilledValue | undefined;

/** The config entry. Throws ARGUMENTS_INVALID for an answer that is missing or not allowed. */
export function fillEntry(
  template: EntryTemplate,
  inputs: readonly InputField[],
  answers: InputAnswers,
): Record<string, unknown> {
  const known = new Map(inputs.map((input) => [input.name, input]));
  for (const name of Object.keys(answers.values ?? {}))
    if (known.get(name)?.isSecret !== false) throw answerFault(name, 'does not accept a value');
  const filled = new Map(inputs.map((input) => [input.name, filledValue(input, answers)]));
  const lookup: Lookup = (name) => filled.get(name);
  if (template.type !== 'stdio') return fillRemote(template, lookup);
  const args = template.args.flatMap((group) => {
    const words = group.map((word) => fillText(word, lookup));
    return words.every((word) => word !== undefined) ? words : [];
  });
  const read = template.sandboxRead;
  return {
    type: 'stdio',
    command: escapePlaceholders(template.command),
    ...(args.length > 0 && { args }),
    ...withMembers('env', fillMap(template.env, lookup)),
    ...(read !== undefined && {
      sandbox: { ...sandboxSettings(read), ...grantsOf(answers) },
    }),
  };
}

/** Of a server that shows little more than these directories. */
export const sandboxSettings = (
  read: readonly string[],
): { readonly preset: 'standard'; readonly read: string[] } => ({
  preset: 'standard',
  read: read.map(escapePlaceholders),
});

function fillRemote({ type, url, headers }: RemoteTemplate, lookup: Lookup): Record<string, unknown> {
  for (const piece of url) {
    if (typeof piece === 'string') continue;
    const value = lookup(piece.input);
    if (value === undefined) throw answerFault(piece.input, 'is part of the address and has no value');
    if ('literal' in value && !URL_VALUE.test(value.literal))
      throw answerFault(
        piece.input,
        'is part of the address: use only letters, digits, ".", "-", "_" and "~"',
      );
  }
  return { type, url: fillText(url, lookup), ...withMembers('headers', fillMap(headers, lookup)) };
}

/** Nothing for an empty map. */
const withMembers = (key: string, map: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.keys(map).length === 0 ? {} : { [key]: map };

function fillMap(map: Readonly<Record<string, TextTemplate>>, lookup: Lookup): Record<string, string> {
  const filled = Object.entries(map).flatMap(([name, text]) => {
    const value = fillText(text, lookup);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(filled);
}

/** Escaped as a whole: two harmless pieces can make up a placeholder. */
function fillText(text: TextTemplate, lookup: Lookup): string | undefined {
  let filled = '';
  let literal = '';
  for (const piece of text) {
    const value = typeof piece === 'string' ? { literal: piece } : lookup(piece.input);
    if (value === undefined) return undefined;
    if ('literal' in value) {
      literal += value.literal;
      continue;
    }
    // It would turn the placeholder into a literal.
    if (literal.endsWith('$')) throw dollarBeforeSecret();
    filled += escapePlaceholders(literal) + value.placeholder;
    literal = '';
  }
  return filled + escapePlaceholders(literal);
}

const grantsOf = ({ granted = [] }: InputAnswers): { readonly write?: readonly string[] } =>
  granted.length === 0 ? {} : { write: [...new Set(granted)].map(escapePlaceholders) };

const dollarBeforeSecret = (): TurnbuckleError =>
  new TurnbuckleError(
    'ARGUMENTS_INVALID',
    'A "$" directly before a secret is not allowed, because it would escape the secret\'s placeholder.',
    { hint: 'Change the value that ends in "$", or choose another server.' },
  );

/** What is wrong with a value for the input, as the end of a sentence about it. */
export function valueFault(
  { isSecret, choices = [] }: Pick<InputField, 'isSecret' | 'choices'>,
  value: string,
): string | undefined {
  if (!isSecret && choices.length > 0 && !choices.includes(value))
    return `must be one of: ${choices.join(', ')}`;
  // The vault limits the length of secrets.
  if ((!isSecret && value.length > MAX_VALUE_LENGTH) || value.includes('\0'))
    return `contains a NUL character or is longer than ${MAX_VALUE_LENGTH} characters`;
  return undefined;
}

/** Undefined if it was left out. */
function filledValue(
  input: InputField,
  { values = {}, secrets = [] }: InputAnswers,
): FilledValue | undefined {
  const { name, isSecret, isRequired } = input;
  if (isSecret)
    return isRequired || secrets.includes(name)
      ? { placeholder: `\${secret:${input.secretName}}` }
      : undefined;
  const value = Object.hasOwn(values, name) ? values[name] : input.default;
  if (value === undefined) {
    if (isRequired) throw answerFault(name, 'is required and has no value');
    return undefined;
  }
  const fault = valueFault(input, value);
  if (fault !== undefined) throw answerFault(name, fault);
  return { literal: value };
}

const answerFault = (name: string, what: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `The server's input "${name}" ${what}.`, {
    hint: 'Provide a value for each required input in the plan. Secrets are stored in the vault and are not provided here.',
    data: { input: name },
  });

/** The words of a command, as far as they are known; an input without a value is shown as `<name>`. */
export function showCommand(
  { command, args }: LocalTemplate,
  inputs: readonly InputField[],
  values: Readonly<Record<string, string>> = {},
): string[] {
  const show = ({ input: name }: { readonly input: string }): string => {
    const input = inputs.find((one) => one.name === name);
    if (input?.isSecret === true) return `\${secret:${input.secretName}}`;
    return (Object.hasOwn(values, name) ? values[name] : input?.default) ?? `<${name}>`;
  };
  const words = args
    .flat()
    .map((word) => word.map((piece) => (typeof piece === 'string' ? piece : show(piece))));
  return [command, ...words.map((pieces) => pieces.join(''))];
}
