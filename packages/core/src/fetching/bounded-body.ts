import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { GrowingBuffer } from './growing-buffer.js';
import { refused } from './refusal.js';

export interface BodyRules {
  readonly url: URL;
  readonly headers: Headers;
  /** Holds for what comes over the wire and again for what it unpacks to. */
  readonly maxBytes: number;
}

type Unpack = (packed: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const unpackGzip: Unpack = promisify(gunzip);
const unpackBrotli: Unpack = promisify(brotliDecompress);
const unpackZlib: Unpack = promisify(inflate);
const unpackRaw: Unpack = promisify(inflateRaw);
// Some servers call the bare format "deflate"; the other one always starts with 8 in its lower half byte.
const unpackDeflate: Unpack = (packed, options) =>
  ((packed[0] ?? 0) & 0x0f) === 8 ? unpackZlib(packed, options) : unpackRaw(packed, options);

const ENCODINGS = new Map<string, Unpack>([
  ['gzip', unpackGzip],
  ['x-gzip', unpackGzip],
  ['deflate', unpackDeflate],
  ['br', unpackBrotli],
]);

/** What this module can unpack, for the request. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** Reads a body to its end and unpacks it. Throws FETCH_REFUSED when it is too large or packed strangely. */
export async function readBoundedBody(
  body: AsyncIterable<Uint8Array>,
  rules: BodyRules,
): Promise<Uint8Array> {
  const { url, headers, maxBytes } = rules;
  const unpack = encodingOf(rules);
  if (Number(headers.get('content-length')) > maxBytes) throw tooLarge(rules);
  const read = new GrowingBuffer();
  for await (const chunk of body) {
    if (read.length + chunk.length > maxBytes) throw tooLarge(rules);
    read.push(chunk);
  }
  const packed = read.take();
  if (unpack === undefined || packed.length === 0) return packed;
  try {
    return await unpack(packed, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(rules);
    throw refused({ url, reason: 'encoding', because: 'its body cannot be unpacked', cause });
  }
}

/** At most one layer: a chain of encodings multiplies. */
function encodingOf({ url, headers }: BodyRules): Unpack | undefined {
  const layers = (headers.get('content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '' && text !== 'identity');
  const [layer] = layers;
  if (layer === undefined) return undefined;
  const unpack = ENCODINGS.get(layer);
  if (layers.length > 1 || unpack === undefined) {
    throw refused({ url, reason: 'encoding', because: 'its body is packed in a way that was not asked for' });
  }
  return unpack;
}

function tooLarge({ url, maxBytes }: BodyRules): Error {
  return refused({ url, reason: 'size', because: `it is larger than ${maxBytes} bytes` });
}
