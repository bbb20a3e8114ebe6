/**
 * The form of an elicitation, rebuilt from the few kinds of field that the protocol knows: whatever else a
 * server writes into its schema does not reach the host. A form that asks for a secret is refused.
 */
import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/client';
import { isRecord } from '../is-record.js';
import { findSecretWord } from '../text/secret-words.js';

type Form = ElicitRequestFormParams['requestedSchema'];
type Raw = Readonly<Record<string, unknown>>;

const MOST_FIELDS = 50;
const MOST_OPTIONS = 200;
const MOST_NAME = 128;
const MOST_TEXT = 1_000;
const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

/** Thrown inside: why the form is not put to anybody. */
class Unfit extends Error {}

/** The form, or why it is refused. */
export function readForm(schema: unknown, message: string): Form | string {
  try {
    if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties))
      throw new Unfit('its form is not an object with fields');
    const entries = Object.entries(schema.properties);
    if (entries.length > MOST_FIELDS) throw new Unfit(`its form has more than ${MOST_FIELDS} fields`);
    const fields = entries.map(([name, field]) => [name, readField(name, field)] as const);
    const required = Array.isArray(schema.required)
      ? schema.required.filter((one) => typeof one === 'string')
      : [];
    refuseSecrets(schema.properties, fields, message);
    return { type: 'object', properties: Object.fromEntries(fields), required };
  } catch (error) {
    if (error instanceof Unfit) return error.message;
    throw error;
  }
}

function readField(name: string, field: unknown): PrimitiveSchemaDefinition {
  if (name.length > MOST_NAME) throw new Unfit('the name of a field is too long');
  if (!isRecord(field)) throw new Unfit(`the field "${name}" is not described`);
  const texts = { ...text(field, 'title'), ...text(field, 'description') };
  switch (field.type) {
    case 'boolean':
      return {
        type: 'boolean',
        ...texts,
        ...(typeof field.default === 'boolean' && { default: field.default }),
      };
    case 'number':
    case 'integer':
      return {
        type: field.type,
        ...texts,
        ...number(field, 'minimum'),
        ...number(field, 'maximum'),
        ...number(field, 'default'),
      };
    case 'string':
      return { ...stringField(field), ...texts };
    case 'array':
      return { ...listField(name, field), ...texts };
    default:
      throw new Unfit(`the field "${name}" is neither text, number, yes or no, nor a choice`);
  }
}

function stringField(field: Raw): PrimitiveSchemaDefinition {
  const proposed = text(field, 'default');
  if (Array.isArray(field.enum)) {
    const names = Array.isArray(field.enumNames) ? { enumNames: words(field.enumNames) } : {};
    return { type: 'string', enum: words(field.enum), ...names, ...proposed };
  }
  if (field.oneOf !== undefined) return { type: 'string', oneOf: titled(field.oneOf), ...proposed };
  const format = FORMATS.find((one) => one === field.format);
  return {
    type: 'string',
    ...number(field, 'minLength'),
    ...number(field, 'maxLength'),
    ...(format !== undefined && { format }),
    ...proposed,
  };
}

function listField(name: string, field: Raw): PrimitiveSchemaDefinition {
  const { items } = field;
  const limits = { ...number(field, 'minItems'), ...number(field, 'maxItems') };
  const proposed = Array.isArray(field.default) ? { default: words(field.default) } : {};
  if (isRecord(items) && items.type === 'string' && Array.isArray(items.enum))
    return { type: 'array', items: { type: 'string', enum: words(items.enum) }, ...limits, ...proposed };
  if (isRecord(items) && items.anyOf !== undefined)
    return { type: 'array', items: { anyOf: titled(items.anyOf) }, ...limits, ...proposed };
  throw new Unfit(`the field "${name}" is a list without choices`);
}

function text<Key extends string>(field: Raw, key: Key): { [key in Key]?: string } {
  const value = field[key];
  if (typeof value !== 'string') return {};
  if (value.length > MOST_TEXT)
    throw new Unfit(`a ${key} in its form is longer than ${MOST_TEXT} characters`);
  return { [key]: value } as { [key in Key]: string };
}

function number<Key extends string>(field: Raw, key: Key): { [key in Key]?: number } {
  const value = field[key];
  return typeof value === 'number' && Number.isFinite(value)
    ? ({ [key]: value } as { [key in Key]: number })
    : {};
}

function words(values: readonly unknown[]): string[] {
  if (values.length > MOST_OPTIONS)
    throw new Unfit(`a choice in its form has more than ${MOST_OPTIONS} options`);
  const strings = values.filter((value): value is string => typeof value === 'string');
  if (strings.length !== values.length || strings.some(({ length }) => length > MOST_TEXT))
    throw new Unfit('the options of a choice are not short texts');
  return strings;
}

function titled(options: unknown): { const: string; title: string }[] {
  const all = Array.isArray(options) ? options : [];
  const values = words(all.map((option) => (isRecord(option) ? option.const : undefined)));
  const titles = words(all.map((option) => (isRecord(option) ? (option.title ?? option.const) : undefined)));
  return values.map((value, index) => ({ const: value, title: titles[index] ?? value }));
}

/** A secret is typed into a field for text or digits; a choice or a yes cannot hold one. */
function refuseSecrets(
  raw: Raw,
  fields: ReadonlyArray<readonly [string, PrimitiveSchemaDefinition]>,
  message: string,
): void {
  for (const [name, field] of fields) {
    const written = raw[name];
    if (!isRecord(written) || !isTyped(field)) continue;
    const numeric = field.type !== 'string';
    const word = [name, written.title, written.description, written.format, message]
      .filter((part): part is string => typeof part === 'string')
      .map((part) => findSecretWord(part, { numeric }))
      .find((found) => found !== undefined);
    if (word !== undefined) throw new Unfit(`its form asks for a secret ("${word}")`);
    if (written.writeOnly === true) throw new Unfit('its form asks for something that may not be read again');
  }
}

export const isTyped = (field: PrimitiveSchemaDefinition): boolean =>
  field.type === 'number' ||
  field.type === 'integer' ||
  (field.type === 'string' && !('enum' in field) && !('oneOf' in field));
