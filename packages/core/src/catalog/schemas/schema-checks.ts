/**
 * Validates arguments against a tool's input schema, and results against its output schema. Each schema is compiled
 * at the first call of its tool, and the compiled form is stored with the tool.
 */

import { retryableOnce } from '../../async/retryable-once.js';
import { isRecord } from '../../json/is-record.js';
import { wideMemberCount } from '../../json/wide-objects.js';
import { hasMorePartsThan } from '../../json/write-large.js';
import type { CatalogTool } from '../tool.js';
import { workLimit } from './check-work.js';
import { type CheckCost, guardSchema } from './schema-guard.js';

export interface Fault {
  /** The path in the value, such as `items[0].name`; empty for the value itself. */
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
/** For larger values the error does not say where. */
const MAX_EXPLAINED_PARTS = 10_000;
const UNEXPLAINED: readonly Fault[] = [
  { path: '', message: 'the value is too large to show which part is invalid' },
];
/** A recursive schema is only applied to values within these limits of steps and depth. */
const MAX_RECURSIVE_STEPS = 200_000;
const MAX_RECURSIVE_DEPTH = 64;
/** A schema is only applied to values within this limit of steps; fewer for a detailed error. */
const MAX_WORK = 20_000_000;
const MAX_EXPLAINED_WORK = 1_000_000;

/** What has schemas: a tool, usually. Compiled schemas are stored by this object. */
type SchemaOwner = Pick<CatalogTool, 'inputSchema' | 'outputSchema'>;

export class SchemaChecks {
  readonly #inputs = new WeakMap<SchemaOwner, Compiled>();
  readonly #outputs = new WeakMap<SchemaOwner, Compiled>();
  #compile: Compile | undefined;

  /** Loads the compiler, which `checkInput` and `checkOutput` need. Resolves immediately from the second time on. */
  readonly load: () => Promise<void> = retryableOnce(async () => {
    const { Compile } = await import('typebox/schema');
    this.#compile = (schema) => Compile(schema);
  });

  get loaded(): boolean {
    return this.#compile !== undefined;
  }

  /** The validation errors (empty if none), or why the schema is unusable. */
  checkInput(tool: SchemaOwner, value: unknown): readonly Fault[] | { readonly fault: string } {
    let compiled = this.#inputs.get(tool);
    if (compiled === undefined) {
      compiled = this.#compiled(tool.inputSchema);
      this.#inputs.set(tool, compiled);
    }
    if ('fault' in compiled) return compiled;
    const faults = compiled.check(value);
    if (faults === undefined) return [];
    // Models send null for omitted arguments; the server gets them unchanged.
    const spoken = withoutNulls(value, tool.inputSchema.required);
    return spoken === value ? faults : (compiled.check(spoken) ?? []);
  }

  checkOutput(tool: SchemaOwner, value: unknown): readonly Fault[] | { readonly fault: string } {
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
          // Collecting all errors visits everything, and takes a thousand times as long as the validation.
          const isLarge =
            hasMorePartsThan(value, MAX_EXPLAINED_PARTS) || !isWithin(value, MAX_EXPLAINED_WORK);
          return isLarge ? UNEXPLAINED : describe(validator.Errors(value)[1]);
        },
      };
    } catch {
      return { fault: 'the schema cannot be compiled' };
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
  return faults.length > 0 ? faults : [{ path: '', message: 'the value does not match the schema' }];
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

/** The object without optional properties that are null; one with very many members as it is: copying takes long. */
function withoutNulls(value: unknown, required: unknown): unknown {
  if (!isRecord(value) || wideMemberCount(value) !== undefined) return value;
  const needed = Array.isArray(required) ? required : [];
  const kept = Object.entries(value).filter(([key, part]) => part !== null || needed.includes(key));
  return kept.length === Object.keys(value).length ? value : Object.fromEntries(kept);
}

function isAffordable(root: unknown, { cost, growth }: CheckCost): boolean {
  let level: unknown[] = [root];
  let steps = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    steps += level.length * cost * growth ** depth;
    if (depth > MAX_RECURSIVE_DEPTH || steps > MAX_RECURSIVE_STEPS) return false;
    level = level.flatMap((node) => (isRecord(node) || Array.isArray(node) ? Object.values(node) : []));
  }
  return true;
}
