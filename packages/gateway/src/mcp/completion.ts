/** Completing an argument: what of the request goes on, and which addresses of resources it is about. */
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

/** The address that the values make of a template; what has no value yet stays as it is written. */
export function fillTemplate(template: string, { argument, context }: Completion): string {
  const values = new Map(Object.entries(context?.arguments ?? {}));
  if (argument !== undefined) values.set(argument.name, argument.value);
  const expressions = [...template.matchAll(EXPRESSION)].map(([, , names = '']) => namesOf(names));
  // A server may take the value for any of them when the template has no such name.
  const isKnown = argument === undefined || expressions.flat().includes(argument.name);
  return template.replace(EXPRESSION, (whole, operator: string, list: string) => {
    const [before, between, isNamed] = OPERATORS[operator] ?? OPERATORS[''];
    const names = namesOf(list);
    const filled = names.flatMap((name) => {
      const value = values.get(name) ?? (isKnown ? undefined : argument?.value);
      return value === undefined ? [] : [isNamed ? `${name}=${value}` : value];
    });
    return filled.length === 0 ? whole : before + filled.join(between);
  });
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

/** The same result without the values that `mayKnow` is against, and without how many there are in all then. */
export function withoutValues(result: Params, mayKnow: (value: string) => boolean): Params {
  const { completion } = result;
  if (!isRecord(completion) || !Array.isArray(completion.values)) return result;
  const given: unknown[] = completion.values.slice(0, MOST_VALUES);
  const values = given.filter((value) => typeof value === 'string' && mayKnow(value));
  if (values.length === completion.values.length) return result;
  const { total, ...rest } = completion;
  return { ...result, completion: { ...rest, values } };
}
