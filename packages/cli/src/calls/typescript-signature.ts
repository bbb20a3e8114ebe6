/** A tool as a TypeScript signature, for people and models that read those best. */
import type { CatalogTool } from 'turnbuckle';
import { isRecord } from 'turnbuckle/light';
import { escapeHidden, showLine } from '../terminal/untrusted-text.js';
import { resolveReference } from './resolve-reference.js';

type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;

export function toSignature({ tool, description, inputSchema, outputSchema }: CatalogTool): string {
  const comment =
    description === undefined ? '' : `/** ${showLine(description, 300).replaceAll('*/', '* /')} */\n`;
  const input = toType(inputSchema, inputSchema, 0);
  const result = outputSchema === undefined ? 'CallToolResult' : toType(outputSchema, outputSchema, 0);
  return escapeHidden(`${comment}${toKey(tool)}(input: ${input}): Promise<${result}>;`);
}

function toType(schema: unknown, root: Schema, depth: number): string {
  if (!isSchema(schema) || depth > MAX_DEPTH) return 'unknown';
  if (typeof schema.$ref === 'string') return toType(resolveReference(schema.$ref, root), root, depth + 1);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  for (const [key, join] of [
    ['anyOf', ' | '],
    ['oneOf', ' | '],
    ['allOf', ' & '],
  ] as const) {
    const branches = schema[key];
    if (Array.isArray(branches)) return branches.map((branch) => toType(branch, root, depth + 1)).join(join);
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.map((type) => ofType(type, schema, { root, depth })).join(' | ');
}

interface SchemaPlace {
  readonly root: Schema;
  readonly depth: number;
}

function ofType(type: unknown, schema: Schema, { root, depth }: SchemaPlace): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `Array<${toType(schema.items, root, depth + 1)}>`;
    case 'object':
      return toObject(schema, root, depth);
    default:
      return isSchema(schema.properties) ? toObject(schema, root, depth) : 'unknown';
  }
}

function toObject(schema: Schema, root: Schema, depth: number): string {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0)
    return schema.additionalProperties === false ? '{}' : 'Record<string, unknown>';
  const required = Array.isArray(schema.required) ? schema.required : [];
  const indent = '  '.repeat(depth + 1);
  const lines = properties.map(([key, value]) => {
    const note =
      isSchema(value) && typeof value.description === 'string'
        ? `${indent}/** ${showLine(value.description, 120).replaceAll('*/', '* /')} */\n`
        : '';
    return `${note}${indent}${toKey(key)}${required.includes(key) ? '' : '?'}: ${toType(value, root, depth + 1)};`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

const toKey = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
const isSchema = (value: unknown): value is Schema => isRecord(value);
