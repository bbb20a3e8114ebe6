/**
 * What is wrong with the schemas of a tool, in words for its user. Pure, and bounded in time: the runtime has
 * limited the size of a schema before. Nothing is fetched.
 */
import { findLimitFault, isRecord, type SchemaChecks } from 'turnbuckle/host';

export interface LintedTool {
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
}

type Schema = Readonly<Record<string, unknown>>;

const MAX_NODES = 5_000;
const MAX_PROBLEMS = 20;
/** More than this costs a model more than the tool is worth. */
const LARGE = { maxSchemaBytes: 32 * 1_024, maxSchemaDepth: 12, maxSchemaNodes: 1_000 };
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords whose members are data or names, not schemas. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired']);

/** Problems, the most serious ones first; none: []. `checks` has to be loaded. */
export function lintSchemas(tool: LintedTool, checks: SchemaChecks): string[] {
  const { inputSchema, outputSchema, description } = tool;
  const problems = [
    ...schemaProblems('input schema', inputSchema, faultOf(checks.checkInput(asOwner(tool), {}))),
    ...(outputSchema === undefined
      ? []
      : schemaProblems('output schema', outputSchema, faultOf(checks.checkOutput(asOwner(tool), {})))),
    ...(inputSchema.type === 'object' ? [] : ['input schema: "type" is not "object"']),
    ...(description === undefined || description.trim() === '' ? ['it has no description'] : []),
    ...undescribedParameters(inputSchema),
  ];
  return [...new Set(problems)].slice(0, MAX_PROBLEMS);
}

const asOwner = ({ inputSchema, outputSchema }: LintedTool): Parameters<SchemaChecks['checkInput']>[0] => ({
  inputSchema,
  outputSchema,
});

const faultOf = (checked: ReturnType<SchemaChecks['checkInput']>): string | undefined =>
  'fault' in checked ? checked.fault : undefined;

function schemaProblems(what: string, schema: Schema, fault: string | undefined): string[] {
  const large = findLimitFault(schema, LARGE)?.replace(/^its schema/, '');
  const problems = [
    ...(fault === undefined ? [] : [fault]),
    ...nodeProblems(schema),
    ...(large === undefined ? [] : [`it${large}`]),
  ];
  return problems.map((problem) => `${what}: ${problem}`);
}

interface Visited {
  readonly path: string;
  readonly node: unknown;
}

/** Breadth-first, so that depth costs no stack. */
function nodeProblems(root: Schema): string[] {
  const problems: string[] = [];
  const open: Visited[] = [{ path: '', node: root }];
  for (let index = 0; index < open.length && index < MAX_NODES; index += 1) {
    const { path, node } = open[index] ?? { path: '', node: undefined };
    if (problems.length >= MAX_PROBLEMS) break;
    if (Array.isArray(node)) open.push(...node.map((member) => ({ path, node: member })));
    if (!isRecord(node)) continue;
    problems.push(...ownProblems(node).map((text) => (path === '' ? text : `${path}: ${text}`)));
    for (const [key, value] of Object.entries(node)) {
      if (DATA_KEYWORDS.has(key)) continue;
      if (isRecord(value) && NAME_MAPS.has(key))
        for (const [name, member] of Object.entries(value))
          open.push({ path: join(path, name), node: member });
      else if (typeof value === 'object')
        open.push({ path: key === 'items' ? `${path}[]` : path, node: value });
    }
  }
  return problems;
}

const NAME_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function* ownFindings(node: Schema): Iterable<string> {
  for (const key of REFERENCES) {
    const target = node[key];
    if (typeof target === 'string' && !target.startsWith('#')) yield `"${key}" points outside the schema`;
  }
  const { properties, required, pattern } = node;
  if (Array.isArray(required) && isRecord(properties)) {
    const missing = required.find((name) => typeof name === 'string' && !Object.hasOwn(properties, name));
    if (missing !== undefined) yield `"${missing}" is required but not among the properties`;
  } else if (required !== undefined && !Array.isArray(required)) yield '"required" must be an array';
  if (typeof pattern === 'string' && !compiles(pattern)) yield '"pattern" is not a valid regular expression';
  yield* valueProblems(node);
}

const ownProblems = (node: Schema): string[] => [...ownFindings(node)];

function* valueProblems(node: Schema): Iterable<string> {
  const { enum: choices, type } = node;
  if (choices !== undefined && (!Array.isArray(choices) || choices.length === 0))
    yield '"enum" must be a non-empty array';
  if (Array.isArray(choices) && choices.some((choice) => !hasType(choice, type)))
    yield 'a value in "enum" does not match "type"';
  if (!Object.hasOwn(node, 'default')) return;
  if (!hasType(node.default, type)) yield '"default" does not match "type"';
  else if (Array.isArray(choices) && isScalar(node.default) && !choices.includes(node.default))
    yield '"default" is not one of the values in "enum"';
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Unknown and missing types match everything: other checks report them. */
function hasType(value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(value, one));
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    default:
      return true;
  }
}

function undescribedParameters({ properties }: Schema): string[] {
  const all = isRecord(properties) ? Object.values(properties) : [];
  const bare = all.filter((one) => !(isRecord(one) && typeof one.description === 'string'));
  return bare.length === 0 ? [] : [`${bare.length} of ${all.length} parameters have no description`];
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern.slice(0, 10_000), 'u');
    return true;
  } catch {
    return false;
  }
}
