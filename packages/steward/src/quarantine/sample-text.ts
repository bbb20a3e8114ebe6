/** A text for a schema: by its format, its pattern, or just long enough. */
import { samplePattern } from './sample-pattern.js';
import type { Schema } from './sample-schema.js';

const MAX_LENGTH = 4_096;
const PLAIN_TEXT = 'sample';

/** One value of each format. Addresses are those reserved for documentation: they lead nowhere. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2024-01-02',
  time: '03:04:05Z',
  'date-time': '2024-01-02T03:04:05Z',
  duration: 'P1D',
  email: 'sample@example.com',
  'idn-email': 'sample@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/sample',
  iri: 'https://example.com/',
  'iri-reference': '/sample',
  'uri-template': 'https://example.com/{id}',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  'json-pointer': '/a',
  'relative-json-pointer': '0/a',
  regex: 'a',
  byte: 'c2FtcGxl',
  binary: PLAIN_TEXT,
};

/** Undefined: no such text was found. */
export function sampleText(schema: Schema, random: () => number): string | undefined {
  const { pattern, format } = schema;
  const least = boundOf(schema.minLength, 0);
  const most = boundOf(schema.maxLength, Number.POSITIVE_INFINITY);
  if (least > most || least > MAX_LENGTH) return undefined;
  if (typeof pattern === 'string') return samplePattern(pattern, random);
  if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) return FORMATS[format];
  return PLAIN_TEXT.repeat(Math.ceil(Math.max(least, 1) / PLAIN_TEXT.length)).slice(
    0,
    Math.min(Math.max(least, PLAIN_TEXT.length), most),
  );
}

const boundOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;
