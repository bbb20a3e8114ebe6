/** A small reader for the command lines of known wrappers; an unknown option makes it give up. */

export interface FlagRules {
  /** Options and how many values follow each. */
  readonly known: Readonly<Record<string, number>>;
}

export interface ParsedFlags {
  readonly positional: readonly string[];
  /** Every value list that an option was given. */
  all(name: string): readonly (readonly string[])[];
  has(name: string): boolean;
}

/** Undefined when there is an option it does not know, or one without its values. */
export function parseFlags(args: readonly string[], { known }: FlagRules): ParsedFlags | undefined {
  const positional: string[] = [];
  const given = new Map<string, string[][]>();
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) {
      positional.push(arg);
      continue;
    }
    const equals = arg.startsWith('--') ? arg.indexOf('=') : -1;
    const name = equals === -1 ? arg : arg.slice(0, equals);
    const count = Object.hasOwn(known, name) ? known[name] : undefined;
    if (count === undefined) return undefined;
    const values = equals === -1 ? args.slice(index + 1, index + 1 + count) : [arg.slice(equals + 1)];
    if (values.length !== count) return undefined;
    if (equals === -1) index += count;
    given.set(name, [...(given.get(name) ?? []), values]);
  }
  return { positional, all: (name) => given.get(name) ?? [], has: (name) => given.has(name) };
}
