import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { fetchRefused } from './fetch-refused.js';
import { GrowingBuffer } from './growing-buffer.js';

export interface BodyRules {
  readonly url: URL;
  readonly headers: Headers;
  /** Applies to the body as received, and again to the decompressed body. */
  readonly maxBytes: number;
}

type Unpack = (packed: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const unpackGzip: Unpack = promisify(gunzip);
const unpackBrotli: Unpack = promisify(brotliDecompress);
const unpackZlib: Unpack = promisify(inflate);
const unpackRaw: Unpack = promisify(inflateRaw);
// Some servers send raw deflate as "deflate"; the zlib format always starts with 8 in the low half of its first byte.
const unpackDeflate: Unpack = (packed, options) =>
  ((packed[0] ?? 0) & 0x0f) === 8 ? unpackZlib(packed, options) : unpackRaw(packed, options);

const ENCODINGS = new Map<string, Unpack>([
  ['gzip', unpackGzip],
  ['x-gzip', unpackGzip],
  ['deflate', unpackDeflate],
  ['br', unpackBrotli],
]);

/** The encodings that this module can decompress, for the request header. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** Reads a whole body and decompresses it. Throws FETCH_REFUSED if it is too large or its encoding is not supported. */
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
    throw fetchRefused({ url, reason: 'encoding', because: 'its body cannot be decompressed', cause });
  }
}

/** One encoding at most: a chain of encodings multiplies the size. */
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
    throw fetchRefused({
      url,
      reason: 'encoding',
      because: 'its body uses a content encoding that was not requested',
    });
  }
  return unpack;
}

function tooLarge({ url, maxBytes }: BodyRules): Error {
  return fetchRefused({ url, reason: 'size', because: `it is larger than ${maxBytes} bytes` });
}
