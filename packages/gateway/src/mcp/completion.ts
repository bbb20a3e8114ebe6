/** Completion requests: what of them is forwarded, and which resource URIs they are about. */
import { isRecord, MAX_NAME_LENGTH, type Steps } from 'turnbuckle/host';
import { CODES, type Params, RpcError } from './protocol/protocol.js';

type Texts = Readonly<Record<string, string>>;

export interface Completion {
  readonly argument?: { readonly name: string; readonly value: string } | undefined;
  readonly context?: { readonly arguments: Texts } | undefined;
}

/** The protocol's maximum number of values in a completion. */
const MAX_VALUES = 100;

/** Only known members: anything else a client sends could name something that was not authorized. */
export function readCompletion({ argument, context }: Params): Completion {
  return {
    ...(argument !== undefined && { argument: readArgument(argument) }),
    ...(context !== undefined && { context: readContext(context) }),
  };
}

/** The arguments of the prompt, as if it were requested with the values known so far. */
export const promptArguments = ({ argument, context }: Completion): Params => ({
  arguments: { ...context?.arguments, ...(argument !== undefined && { [argument.name]: argument.value }) },
});

function readArgument(given: unknown): Completion['argument'] {
  if (!isRecord(given) || typeof given.name !== 'string' || typeof given.value !== 'string')
    throw new RpcError(CODES.invalidParams, 'argument.name and argument.value must be strings');
  return { name: given.name, value: given.value };
}

function readContext(given: unknown): Completion['context'] {
  const known = isRecord(given) ? (given.arguments ?? {}) : undefined;
  if (!isRecord(known) || Object.values(known).some((value) => typeof value !== 'string'))
    throw new RpcError(CODES.invalidParams, 'context.arguments must be an object with string values');
  return { arguments: known as Texts };
}

/** The URI that a completion is about. Throws an RpcError if the values make it too long. */
export function requireUri(template: string, given: Completion): string {
  const address = fillTemplate(template, given);
  if (address !== undefined) return address;
  const message = `The expanded URI is longer than ${MAX_NAME_LENGTH} characters`;
  throw new RpcError(CODES.invalidParams, message, { http: 400 });
}

/**
 * Expands a template with the values; expressions without a value stay as written. Undefined if the result would be too
 * long: many expressions can stand for the same long value.
 */
function fillTemplate(template: string, { argument, context }: Completion): string | undefined {
  const known = context?.arguments ?? {};
  const expressions = [...template.matchAll(EXPRESSION)];
  // A server may use the value for any expression if the template has none of that name.
  const isNamed =
    argument === undefined || expressions.some(([, , list = '']) => namesOf(list).includes(argument.name));
  const valueFor = (name: string): string | undefined => {
    if (argument !== undefined && (name === argument.name || !(isNamed || Object.hasOwn(known, name))))
      return argument.value;
    return Object.hasOwn(known, name) ? known[name] : undefined;
  };
  let [filled, end] = ['', 0];
  for (const expression of expressions) {
    const piece = fillExpression(expression, valueFor, MAX_NAME_LENGTH - filled.length);
    if (piece === undefined) return undefined;
    filled += template.slice(end, expression.index) + piece;
    end = expression.index + expression[0].length;
  }
  filled += template.slice(end);
  return filled.length > MAX_NAME_LENGTH ? undefined : filled;
}

function fillExpression(
  [whole, operator = '', list = '']: RegExpExecArray,
  valueFor: (name: string) => string | undefined,
  room: number,
): string | undefined {
  const [before, between, isNamed] = OPERATORS[operator] ?? OPERATORS[''];
  let filled: string | undefined;
  for (const name of namesOf(list)) {
    const value = valueFor(name);
    if (value === undefined) continue;
    filled = (filled === undefined ? before : filled + between) + (isNamed ? `${name}=${value}` : value);
    if (filled.length > room) return undefined;
  }
  return filled ?? whole;
}

type Operator = readonly [before: string, between: string, isNamed: boolean];

/** As in RFC 6570, but without encoding: the guard checks both forms of a URI. */
const OPERATORS: Readonly<Record<string, Operator>> & { readonly '': Operator } = {
  '': ['', ',', false],
  '+': ['', ',', false],
  '#': ['#', ',', false],
  '.': ['.', '.', false],
  '/': ['/', '/', false],
  ';': [';', ';', true],
  '?': ['?', '&', true],
  '&': ['&', '&', true],
};
const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;

const namesOf = (list: string): string[] => list.split(',').map((name) => name.replace(/(?::\d+|\*)$/, ''));

export interface ValueCheck {
  readonly template: string;
  readonly given: Completion;
  isDenied(address: string): boolean;
}

/** The result without values that lead to no URI or to a denied one; if any are removed, without the total too. */
export function* withoutDeniedValues(
  result: Params,
  { template, given, isDenied }: ValueCheck,
): Steps<Params> {
  const { completion } = result;
  const { argument } = given;
  if (!isRecord(completion) || !Array.isArray(completion.values)) return result;
  const values: string[] = [];
  for (const value of completion.values.slice(0, MAX_VALUES)) {
    if (typeof value !== 'string') continue;
    const filling = argument === undefined ? given : { ...given, argument: { ...argument, value } };
    const address = fillTemplate(template, filling);
    if (address !== undefined && !isDenied(address)) values.push(value);
    yield;
  }
  if (values.length === completion.values.length) return result;
  const { total, ...rest } = completion;
  return { ...result, completion: { ...rest, values } };
}
