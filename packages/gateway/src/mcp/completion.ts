/** Completing an argument: what of the request goes on, and which addresses of resources it is about. */
import { MAX_NAME, type Steps } from 'turnbuckle';
import { CODES, isRecord, type Params, RpcError } from './protocol.js';

type Texts = Readonly<Record<string, string>>;

export interface Completion {
  readonly argument?: { readonly name: string; readonly value: string } | undefined;
  readonly context?: { readonly arguments: Texts } | undefined;
}

/** A completion has no more values than this, by the protocol. */
const MOST_VALUES = 100;

/** Only what is known of it: whatever else a client says could name what nobody decided about. */
export function readCompletion({ argument, context }: Params): Completion {
  return {
    ...(argument !== undefined && { argument: readArgument(argument) }),
    ...(context !== undefined && { context: readContext(context) }),
  };
}

/** The arguments of a prompt as they are when somebody gets it with what is known of them. */
export const argumentsGiven = ({ argument, context }: Completion): Params => ({
  arguments: { ...context?.arguments, ...(argument !== undefined && { [argument.name]: argument.value }) },
});

function readArgument(given: unknown): Completion['argument'] {
  if (!isRecord(given) || typeof given.name !== 'string' || typeof given.value !== 'string')
    throw new RpcError(CODES.invalidParams, 'The argument to be completed has no name or no value');
  return { name: given.name, value: given.value };
}

function readContext(given: unknown): Completion['context'] {
  const known = isRecord(given) ? (given.arguments ?? {}) : undefined;
  if (!isRecord(known) || Object.values(known).some((value) => typeof value !== 'string'))
    throw new RpcError(CODES.invalidParams, 'The arguments in the context of a completion are texts');
  return { arguments: known as Texts };
}

/** The address that a completion is about. Throws an RpcError where the values make it too long to be one. */
export function requireAddress(template: string, given: Completion): string {
  const address = fillTemplate(template, given);
  if (address !== undefined) return address;
  const message = `The values make an address of more than ${MAX_NAME} characters`;
  throw new RpcError(CODES.invalidParams, message, { http: 400 });
}

/**
 * The address that the values make of a template; what has no value yet stays as it is written. Undefined where it
 * would be too long to be one: each of many expressions may stand for the same long value.
 */
function fillTemplate(template: string, { argument, context }: Completion): string | undefined {
  const known = context?.arguments ?? {};
  const expressions = [...template.matchAll(EXPRESSION)];
  // A server may take the value for any of them when the template has no such name.
  const isNamed =
    argument === undefined || expressions.some(([, , list = '']) => namesOf(list).includes(argument.name));
  const valueFor = (name: string): string | undefined => {
    if (argument !== undefined && (name === argument.name || !(isNamed || Object.hasOwn(known, name))))
      return argument.value;
    return Object.hasOwn(known, name) ? known[name] : undefined;
  };
  let [filled, end] = ['', 0];
  for (const expression of expressions) {
    const piece = fillExpression(expression, valueFor, MAX_NAME - filled.length);
    if (piece === undefined) return undefined;
    filled += template.slice(end, expression.index) + piece;
    end = expression.index + expression[0].length;
  }
  filled += template.slice(end);
  return filled.length > MAX_NAME ? undefined : filled;
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

/** As in RFC 6570. Values are not encoded: a guard reads an address in both ways. */
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

/** The same result without the values that lead to no address, or a denied one, and without how many there are in all then. */
export function* withoutValues(result: Params, { template, given, isDenied }: ValueCheck): Steps<Params> {
  const { completion } = result;
  const { argument } = given;
  if (!isRecord(completion) || !Array.isArray(completion.values)) return result;
  const values: string[] = [];
  for (const value of completion.values.slice(0, MOST_VALUES)) {
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
