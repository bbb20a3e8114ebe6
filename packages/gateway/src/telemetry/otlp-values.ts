/** Attributes and times in the JSON form of OTLP, as text: writing it directly costs a fraction of building objects. */
import type { Attributes } from 'turnbuckle/host';

/** The elements of the list of attributes, without its brackets. */
export function writeAttributes(attributes: Attributes): string {
  let text = '';
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined)
      text += `${text === '' ? '' : ','}{"key":${JSON.stringify(key)},"value":${writeValue(value)}}`;
  }
  return text;
}

function writeValue(value: string | number | boolean): string {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${JSON.stringify(value)}}`;
}

const sharedTexts = new WeakMap<Attributes, string>();

/** The same, for attributes that many spans have in common. */
export function writeSharedAttributes(attributes: Attributes): string {
  const known = sharedTexts.get(attributes);
  if (known !== undefined) return known;
  const text = writeAttributes(attributes);
  sharedTexts.set(attributes, text);
  return text;
}

/** Microseconds are exact in a number, nanoseconds are not. */
export const toNanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;
