/**
 * The form of an elicitation, rebuilt from the few kinds of field that the protocol defines: nothing else in a
 * server's schema reaches the host. A form that asks for a secret is rejected.
 */
import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/client';
import { isRecord } from '../../json/is-record.js';
import { findSecretWord } from '../../redaction/secret-words.js';

type Form = ElicitRequestFormParams['requestedSchema'];
type Raw = Readonly<Record<string, unknown>>;

const MAX_FIELDS = 50;
const MAX_OPTIONS = 200;
const MAX_FIELD_NAME_LENGTH = 128;
const MAX_TEXT_LENGTH = 1_000;
const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

/** Internal: why the form is rejected. */
class InvalidFormError extends Error {}

/** The form, or why it is rejected. */
export function readForm(schema: unknown, message: string): Form | string {
  try {
    if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties))
      throw new InvalidFormError("the form's schema is not an object with properties");
    const entries = Object.entries(schema.properties);
    if (entries.length > MAX_FIELDS)
      throw new InvalidFormError(`the form has more than ${MAX_FIELDS} fields`);
    const fields = entries.map(([name, field]) => [name, readField(name, field)] as const);
    const required = Array.isArray(schema.required)
      ? schema.required.filter((one) => typeof one === 'string')
      : [];
    refuseSecrets(schema.properties, fields, message);
    return { type: 'object', properties: Object.fromEntries(fields), required };
  } catch (error) {
    if (error instanceof InvalidFormError) return error.message;
    throw error;
  }
}

function readField(name: string, field: unknown): PrimitiveSchemaDefinition {
  if (name.length > MAX_FIELD_NAME_LENGTH) throw new InvalidFormError('a field name is too long');
  if (!isRecord(field)) throw new InvalidFormError(`the field "${name}" has no schema`);
  const texts = { ...textProperty(field, 'title'), ...textProperty(field, 'description') };
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
        ...numberProperty(field, 'minimum'),
        ...numberProperty(field, 'maximum'),
        ...numberProperty(field, 'default'),
      };
    case 'string':
      return { ...stringField(field), ...texts };
    case 'array':
      return { ...listField(name, field), ...texts };
    default:
      throw new InvalidFormError(`the field "${name}" is not a string, number, boolean or choice`);
  }
}

function stringField(field: Raw): PrimitiveSchemaDefinition {
  const proposed = textProperty(field, 'default');
  if (Array.isArray(field.enum)) {
    const names = Array.isArray(field.enumNames) ? { enumNames: stringOptions(field.enumNames) } : {};
    return { type: 'string', enum: stringOptions(field.enum), ...names, ...proposed };
  }
  if (field.oneOf !== undefined) return { type: 'string', oneOf: titledOptions(field.oneOf), ...proposed };
  const format = FORMATS.find((one) => one === field.format);
  return {
    type: 'string',
    ...numberProperty(field, 'minLength'),
    ...numberProperty(field, 'maxLength'),
    ...(format !== undefined && { format }),
    ...proposed,
  };
}

function listField(name: string, field: Raw): PrimitiveSchemaDefinition {
  const { items } = field;
  const limits = { ...numberProperty(field, 'minItems'), ...numberProperty(field, 'maxItems') };
  const proposed = Array.isArray(field.default) ? { default: stringOptions(field.default) } : {};
  if (isRecord(items) && items.type === 'string' && Array.isArray(items.enum))
    return {
      type: 'array',
      items: { type: 'string', enum: stringOptions(items.enum) },
      ...limits,
      ...proposed,
    };
  if (isRecord(items) && items.anyOf !== undefined)
    return { type: 'array', items: { anyOf: titledOptions(items.anyOf) }, ...limits, ...proposed };
  throw new InvalidFormError(`the field "${name}" is a list without choices`);
}

function textProperty<Key extends string>(field: Raw, key: Key): { [key in Key]?: string } {
  const value = field[key];
  if (typeof value !== 'string') return {};
  if (value.length > MAX_TEXT_LENGTH)
    throw new InvalidFormError(`a ${key} in the form is longer than ${MAX_TEXT_LENGTH} characters`);
  return { [key]: value } as { [key in Key]: string };
}

function numberProperty<Key extends string>(field: Raw, key: Key): { [key in Key]?: number } {
  const value = field[key];
  return typeof value === 'number' && Number.isFinite(value)
    ? ({ [key]: value } as { [key in Key]: number })
    : {};
}

function stringOptions(values: readonly unknown[]): string[] {
  if (values.length > MAX_OPTIONS)
    throw new InvalidFormError(`a choice in the form has more than ${MAX_OPTIONS} options`);
  const strings = values.filter((value): value is string => typeof value === 'string');
  if (strings.length !== values.length || strings.some(({ length }) => length > MAX_TEXT_LENGTH))
    throw new InvalidFormError(
      `an option in a choice is not a string of at most ${MAX_TEXT_LENGTH} characters`,
    );
  return strings;
}

function titledOptions(options: unknown): { const: string; title: string }[] {
  const all = Array.isArray(options) ? options : [];
  const values = stringOptions(all.map((option) => (isRecord(option) ? option.const : undefined)));
  const titles = stringOptions(
    all.map((option) => (isRecord(option) ? (option.title ?? option.const) : undefined)),
  );
  return values.map((value, index) => ({ const: value, title: titles[index] ?? value }));
}

/** A secret is typed into a text or number field; a choice or a boolean cannot hold one. */
function refuseSecrets(
  raw: Raw,
  fields: ReadonlyArray<readonly [string, PrimitiveSchemaDefinition]>,
  message: string,
): void {
  for (const [name, field] of fields) {
    const written = raw[name];
    if (!isRecord(written) || !isFreeInput(field)) continue;
    const numeric = field.type !== 'string';
    const word = [name, written.title, written.description, written.format, message]
      .filter((part): part is string => typeof part === 'string')
      .map((part) => findSecretWord(part, { numeric }))
      .find((found) => found !== undefined);
    if (word !== undefined) throw new InvalidFormError(`the form asks for a secret ("${word}")`);
    if (written.writeOnly === true) throw new InvalidFormError('the form has a write-only field');
  }
}

export const isFreeInput = (field: PrimitiveSchemaDefinition): boolean =>
  field.type === 'number' ||
  field.type === 'integer' ||
  (field.type === 'string' && !('enum' in field) && !('oneOf' in field));
