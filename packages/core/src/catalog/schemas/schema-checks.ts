/**
 * Arguments against a tool's input schema, results against its output schema. Each schema is compiled the
 * first time its tool is called, never a whole list, and the compiled form goes with the tool.
 */
import { isRecord } from '../is-record.js';
import { hasMoreParts } from '../json/write-large.js';
import { retryableOnce } from '../retryable-once.js';
import { workLimit } from './check-work.js';
import { type CheckCost, guardSchema } from './schema-guard.js';
import type { CatalogTool } from './tool.js';

export interface Fault {
  /** Where in the value, as a path: `items[0].name`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

type Compiled = { check(value: unknown): readonly Fault[] | undefined } | { readonly fault: string };
type Compile = (schema: Record<string, unknown>) => {
  Check(value: unknown): boolean;
  Errors(
    value: unknown,
  ): [boolean, ReadonlyArray<{ keyword: string; instancePath: string; message: string; params: object }>];
};

const MAX_FAULTS = 8;
/** What has more parts is told to be wrong, not where. */
const MAX_EXPLAINED = 10_000;
const UNEXPLAINED: readonly Fault[] = [
  { path: '', message: 'does not match the schema (it is too large to say where)' },
];
/** A recursive schema is only applied to values that it can be done with in so many steps, and so deep. */
const RECURSIVE_STEPS = 200_000;
const RECURSIVE_DEPTH = 64;
/** A schema is applied to values that it can be done with in so many steps of work; less tells what is wrong. */
const MAX_WORK = 20_000_000;
const MAX_EXPLAINED_WORK = 1_000_000;

export class SchemaChecks {
  readonly #inputs = new WeakMap<CatalogTool, Compiled>();
  readonly #outputs = new WeakMap<CatalogTool, Compiled>();
  #compile: Compile | undefined;

  /** Loads the compiler; `checkInput` and `checkOutput` need it. Resolved from the second time on. */
  readonly load: () => Promise<void> = retryableOnce(async () => {
    const { Compile } = await import('typebox/schema');
    this.#compile = (schema) => Compile(schema);
  });

  get loaded(): boolean {
    return this.#compile !== undefined;
  }

  /** What is wrong with the arguments (empty when nothing), or why the schema cannot be used. */
  checkInput(tool: CatalogTool, value: unknown): readonly Fault[] | { readonly fault: string } {
    let compiled = this.#inputs.get(tool);
    if (compiled === undefined) {
      compiled = this.#compiled(tool.inputSchema);
      this.#inputs.set(tool, compiled);
    }
    if ('fault' in compiled) return compiled;
    const faults = compiled.check(value);
    if (faults === undefined) return [];
    // Models write null for what they leave out; the server sees what was written.
    const spoken = withoutNulls(value, tool.inputSchema.required);
    return spoken === value ? faults : (compiled.check(spoken) ?? []);
  }

  checkOutput(tool: CatalogTool, value: unknown): readonly Fault[] | { readonly fault: string } {
    if (tool.outputSchema === undefined) return [];
    let compiled = this.#outputs.get(tool);
    if (compiled === undefined) {
      compiled = this.#compiled(tool.outputSchema);
      this.#outputs.set(tool, compiled);
    }
    return 'fault' in compiled ? compiled : (compiled.check(value) ?? []);
  }

  #compiled(schema: Readonly<Record<string, unknown>>): Compiled {
    const guarded = guardSchema(schema);
    if ('fault' in guarded) return guarded;
    if (this.#compile === undefined) throw new Error('The schema compiler is not loaded');
    try {
      const validator = this.#compile(guarded.schema);
      const { work, growth } = guarded;
      const isWithin = workLimit(work, growth);
      return {
        check(value) {
          if (!isWithin(value, MAX_WORK)) return undefined;
          if (growth > 0 && !isAffordable(value, guarded)) return undefined;
          if (validator.Check(value)) return undefined;
          // Finding out what is wrong goes through all of it, and takes a thousand times as long as the check.
          const isLarge = hasMoreParts(value, MAX_EXPLAINED) || !isWithin(value, MAX_EXPLAINED_WORK);
          return isLarge ? UNEXPLAINED : describe(validator.Errors(value)[1]);
        },
      };
    } catch {
      return { fault: 'it cannot be compiled' };
    }
  }
}

function describe(
  errors: ReadonlyArray<{ keyword: string; instancePath: string; message: string; params: object }>,
): Fault[] {
  const faults = errors.slice(0, MAX_FAULTS).map(({ instancePath, message, params, keyword }) => ({
    path: instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce(
        (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`),
        '',
      ),
    message: `${message}${detail(keyword, params)}`,
  }));
  return faults.length > 0 ? faults : [{ path: '', message: 'does not match the schema' }];
}

function detail(keyword: string, params: object): string {
  const values: unknown = keyword === 'enum' ? Reflect.get(params, 'allowedValues') : undefined;
  return Array.isArray(values)
    ? `: ${values
        .slice(0, 10)
        .map((value) => JSON.stringify(value))
        .join(', ')}`
    : '';
}

/** The same object without the optional properties that are null. */
function withoutNulls(value: unknown, required: unknown): unknown {
  if (!isRecord(value)) return value;
  const needed = Array.isArray(required) ? required : [];
  const kept = Object.entries(value).filter(([key, part]) => part !== null || needed.includes(key));
  return kept.length === Object.keys(value).length ? value : Object.fromEntries(kept);
}

function isAffordable(root: unknown, { cost, growth }: CheckCost): boolean {
  let level: unknown[] = [root];
  let steps = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    steps += level.length * cost * growth ** depth;
    if (depth > RECURSIVE_DEPTH || steps > RECURSIVE_STEPS) return false;
    level = level.flatMap((node) => (isRecord(node) || Array.isArray(node) ? Object.values(node) : []));
  }
  return true;
}
