/** One field of a server's form, put to the person at the terminal in the way of its kind. */
import { isCancel, multiselect, select, text } from '@clack/prompts';
import type { ElicitationRequest } from 'turnbuckle';
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
export const LEFT = Symbol('left');

/** The value, undefined for a field that is left open, or LEFT. */
export async function askField({
  server,
  name,
  field,
  required,
  signal,
}: FieldQuestion): Promise<FormValue | undefined | typeof LEFT> {
  const title = showLine(field.title ?? name, 200);
  const message = `${showLine(server, 60)}: ${title}${required ? '' : ' (optional)'}`;
  // Left open it would take the default; where that is not wanted, something has to be said.
  const needed = required || field.default !== undefined;
  const terminal = { message, signal, output: process.stderr, withGuide: false };
  switch (field.type) {
    case 'boolean': {
      const answer = await choose(['yes', 'no'], { terminal, needed, usual: yesOrNo(field.default) });
      return typeof answer === 'string' ? answer === 'yes' : answer;
    }
    case 'number':
    case 'integer': {
      const refuse = (given: string): string | undefined => refuseNumber(given, field, needed);
      const answer = await write(terminal, { usual: field.default?.toString(), refuse });
      return typeof answer === 'string' ? Number(answer) : answer;
    }
    case 'array':
      return chooseSome(field, terminal);
    default:
      if ('enum' in field || 'oneOf' in field)
        return choose(optionsOf(field), { terminal, needed, usual: field.default });
      return writeText(terminal, field, required);
  }
}

type Terminal = { message: string; signal: AbortSignal; output: NodeJS.WriteStream; withGuide: boolean };

async function writeText(
  terminal: Terminal,
  field: Written,
  required: boolean,
): Promise<string | undefined | typeof LEFT> {
  const refuse = (given: string): string | undefined => refuseText(given, field, required);
  const answer = await write(terminal, { usual: field.default, refuse });
  return answer === undefined && field.default !== undefined ? '' : answer;
}

const yesOrNo = (value: boolean | undefined): string | undefined =>
  value === undefined ? undefined : value ? 'yes' : 'no';

interface Option {
  readonly value: string;
  readonly label: string;
}

function optionsOf(field: Extract<FormField, { oneOf: unknown } | { enum: unknown }>): readonly Option[] {
  if ('oneOf' in field) return field.oneOf.map((one) => ({ value: one.const, label: one.title }));
  const titles = 'enumNames' in field ? (field.enumNames ?? []) : [];
  return field.enum.map((value, index) => ({ value, label: titles[index] ?? value }));
}

/** Not one of the server's: none of them can look like it. */
const OPEN = { value: -1, label: '(leave open)' };

async function choose(
  options: ReadonlyArray<Option | string>,
  { terminal, needed, usual }: { terminal: Terminal; needed: boolean; usual: string | undefined },
): Promise<string | undefined | typeof LEFT> {
  const values = options.map((option) =>
    typeof option === 'string' ? { value: option, label: option } : option,
  );
  const shown = values.map(({ label }, index) => ({ value: index, label: showLine(label) }));
  const answer = await select({
    ...terminal,
    options: needed ? shown : [...shown, OPEN],
    initialValue: Math.max(
      values.findIndex(({ value }) => value === usual),
      0,
    ),
  });
  return isCancel(answer) ? LEFT : values[answer]?.value;
}

async function chooseSome(
  field: Extract<FormField, { type: 'array' }>,
  terminal: Terminal,
): Promise<string[] | typeof LEFT> {
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
  return isCancel(answer) ? LEFT : answer.flatMap((index) => values[index]?.value ?? []);
}

async function write(
  terminal: Terminal,
  { usual, refuse }: { usual: string | undefined; refuse: (given: string) => string | undefined },
): Promise<string | undefined | typeof LEFT> {
  const answer = await text({
    ...terminal,
    // What cannot be seen as it is does not stand there already.
    ...(usual !== undefined && showText(usual) === usual && { initialValue: usual }),
    validate: (given) => refuse(given ?? ''),
  });
  if (isCancel(answer)) return LEFT;
  return answer === undefined || answer === '' ? undefined : answer;
}

function refuseNumber(
  given: string,
  { type, minimum, maximum }: Extract<FormField, { type: 'number' | 'integer' }>,
  required: boolean,
): string | undefined {
  if (given.trim() === '') return required ? 'It is needed.' : undefined;
  const value = Number(given);
  if (!Number.isFinite(value)) return 'It must be a number.';
  if (type === 'integer' && !Number.isInteger(value)) return 'It must be a whole number.';
  if (minimum !== undefined && value < minimum) return `It must be at least ${minimum}.`;
  return maximum !== undefined && value > maximum ? `It must be at most ${maximum}.` : undefined;
}

const FORMATS: Readonly<Record<string, readonly [pattern: RegExp, what: string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, 'an e-mail address'],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, 'an address such as https://example.com'],
  date: [/^\d{4}-\d\d-\d\d$/, 'a date such as 2026-12-31'],
  'date-time': [/^\d{4}-\d\d-\d\dT\d\d:\d\d/, 'a time such as 2026-12-31T12:00:00Z'],
};

interface Written {
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: string | undefined;
  readonly default?: string | undefined;
}

function refuseText(given: string, field: Written, required: boolean): string | undefined {
  if (given === '') return required ? 'It is needed.' : undefined;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format = '' } = field;
  if (given.length < minLength) return `It must have at least ${minLength} characters.`;
  if (given.length > maxLength) return `It must have at most ${maxLength} characters.`;
  const [pattern, what] = (Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined) ?? [];
  return pattern === undefined || pattern.test(given) ? undefined : `It must be ${what}.`;
}
