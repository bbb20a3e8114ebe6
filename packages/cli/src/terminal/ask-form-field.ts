/** One field of a server's form, put to the person at the terminal in the way of its kind. */
import { isCancel, multiselect, select, text } from '@clack/prompts';
import type { ElicitationRequest } from 'turnbuckle/host';
import { showLine, showText } from './untrusted-text.js';

type Form = Extract<ElicitationRequest, { mode: 'form' }>['requestedSchema'];
export type FormField = Form['properties'][string];
export type FormValue = string | number | boolean | string[];

export interface FieldQuestion {
  /** Who asks: stands before the title, which is the server's own word. */
  readonly server: string;
  readonly name: string;
  readonly field: FormField;
  readonly required: boolean;
  readonly signal: AbortSignal;
}

/** The person went away from the form. */
export const CANCELLED = Symbol('left');

/** The value, undefined for a field that is left open, or LEFT. */
export async function askField({
  server,
  name,
  field,
  required,
  signal,
}: FieldQuestion): Promise<FormValue | undefined | typeof CANCELLED> {
  const title = showLine(field.title ?? name, 200);
  const message = `${showLine(server, 60)}: ${title}${required ? '' : ' (optional)'}`;
  // An empty answer means the default; to send no value, one has to be chosen.
  const needed = required || field.default !== undefined;
  const terminal = { message, signal, output: process.stderr, withGuide: false };
  switch (field.type) {
    case 'boolean': {
      const answer = await selectOne(['yes', 'no'], { terminal, needed, usual: yesOrNo(field.default) });
      return typeof answer === 'string' ? answer === 'yes' : answer;
    }
    case 'number':
    case 'integer': {
      const refuse = (given: string): string | undefined => validateNumber(given, field, needed);
      const answer = await askLine(terminal, { usual: field.default?.toString(), refuse });
      return typeof answer === 'string' ? Number(answer) : answer;
    }
    case 'array':
      return selectMany(field, terminal);
    default:
      if ('enum' in field || 'oneOf' in field)
        return selectOne(optionsOf(field), { terminal, needed, usual: field.default });
      return askString(terminal, field, required);
  }
}

type PromptOptions = { message: string; signal: AbortSignal; output: NodeJS.WriteStream; withGuide: boolean };

async function askString(
  terminal: PromptOptions,
  field: StringField,
  required: boolean,
): Promise<string | undefined | typeof CANCELLED> {
  const refuse = (given: string): string | undefined => validateText(given, field, required);
  const answer = await askLine(terminal, { usual: field.default, refuse });
  return answer === undefined && field.default !== undefined ? '' : answer;
}

const yesOrNo = (value: boolean | undefined): string | undefined =>
  value === undefined ? undefined : value ? 'yes' : 'no';

interface Choice {
  readonly value: string;
  readonly label: string;
}

function optionsOf(field: Extract<FormField, { oneOf: unknown } | { enum: unknown }>): readonly Choice[] {
  if ('oneOf' in field) return field.oneOf.map((one) => ({ value: one.const, label: one.title }));
  const titles = 'enumNames' in field ? (field.enumNames ?? []) : [];
  return field.enum.map((value, index) => ({ value, label: titles[index] ?? value }));
}

/** Not one of the server's: none of them can look like it. */
const LEAVE_EMPTY = { value: -1, label: '(leave empty)' };

async function selectOne(
  options: ReadonlyArray<Choice | string>,
  { terminal, needed, usual }: { terminal: PromptOptions; needed: boolean; usual: string | undefined },
): Promise<string | undefined | typeof CANCELLED> {
  const values = options.map((option) =>
    typeof option === 'string' ? { value: option, label: option } : option,
  );
  const shown = values.map(({ label }, index) => ({ value: index, label: showLine(label) }));
  const answer = await select({
    ...terminal,
    options: needed ? shown : [...shown, LEAVE_EMPTY],
    initialValue: Math.max(
      values.findIndex(({ value }) => value === usual),
      0,
    ),
  });
  return isCancel(answer) ? CANCELLED : values[answer]?.value;
}

async function selectMany(
  field: Extract<FormField, { type: 'array' }>,
  terminal: PromptOptions,
): Promise<string[] | typeof CANCELLED> {
  const { items, minItems = 0, default: usual = [] } = field;
  const values =
    'anyOf' in items
      ? items.anyOf.map((one) => ({ value: one.const, label: one.title }))
      : items.enum.map((value) => ({ value, label: value }));
  const answer = await multiselect({
    ...terminal,
    options: values.map(({ label }, index) => ({ value: index, label: showLine(label) })),
    initialValues: values.flatMap(({ value }, index) => (usual.includes(value) ? [index] : [])),
    required: minItems > 0,
  });
  return isCancel(answer) ? CANCELLED : answer.flatMap((index) => values[index]?.value ?? []);
}

async function askLine(
  terminal: PromptOptions,
  { usual, refuse }: { usual: string | undefined; refuse: (given: string) => string | undefined },
): Promise<string | undefined | typeof CANCELLED> {
  const answer = await text({
    ...terminal,
    // What cannot be seen as it is does not stand there already.
    ...(usual !== undefined && showText(usual) === usual && { initialValue: usual }),
    validate: (given) => refuse(given ?? ''),
  });
  if (isCancel(answer)) return CANCELLED;
  return answer === undefined || answer === '' ? undefined : answer;
}

function validateNumber(
  given: string,
  { type, minimum, maximum }: Extract<FormField, { type: 'number' | 'integer' }>,
  required: boolean,
): string | undefined {
  if (given.trim() === '') return required ? 'A value is required.' : undefined;
  const value = Number(given);
  if (!Number.isFinite(value)) return 'The value must be a number.';
  if (type === 'integer' && !Number.isInteger(value)) return 'The value must be a whole number.';
  if (minimum !== undefined && value < minimum) return `The value must be at least ${minimum}.`;
  return maximum !== undefined && value > maximum ? `The value must be at most ${maximum}.` : undefined;
}

const FORMATS: Readonly<Record<string, readonly [pattern: RegExp, what: string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, 'an e-mail address'],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, 'a URL such as https://example.com'],
  date: [/^\d{4}-\d\d-\d\d$/, 'a date such as 2026-12-31'],
  'date-time': [/^\d{4}-\d\d-\d\dT\d\d:\d\d/, 'a time such as 2026-12-31T12:00:00Z'],
};

interface StringField {
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: string | undefined;
  readonly default?: string | undefined;
}

function validateText(given: string, field: StringField, required: boolean): string | undefined {
  if (given === '') return required ? 'A value is required.' : undefined;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format = '' } = field;
  if (given.length < minLength) return `The value must have at least ${minLength} characters.`;
  if (given.length > maxLength) return `The value must have at most ${maxLength} characters.`;
  const [pattern, what] = (Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined) ?? [];
  return pattern === undefined || pattern.test(given) ? undefined : `The value must be ${what}.`;
}
