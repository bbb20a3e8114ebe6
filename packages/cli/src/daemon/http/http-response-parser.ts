/** Reads an HTTP/1.1 answer as it comes. */
const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const MAX_HEAD_BYTES = 64 * 1_024;
/** More digits than any chunk's length needs. */
const MAX_CHUNK_LENGTH_DIGITS = 12;

export class HttpResponseParser {
  status = 0;
  /** True when the end of the body has come. */
  isComplete = false;
  /** Number of configuration problems that the daemon reports. */
  problemCount = 0;
  #buffer: Buffer = Buffer.alloc(0);
  #bodyMode: 'head' | 'chunked' | 'counted' | 'open' = 'head';
  /** Bytes of the body, or of the chunk and its line end, that are still to come. */
  #remainingBytes = 0;
  readonly #createError: (what: string) => Error;

  /** Creates the error for an invalid response. */
  constructor(wrong: (what: string) => Error) {
    this.#createError = wrong;
  }

  /** The parts of the body that this brings. Throws what is no HTTP. */
  push(part: Buffer): Buffer[] {
    this.#buffer = this.#buffer.length === 0 ? part : Buffer.concat([this.#buffer, part]);
    if (this.#bodyMode === 'head' && !this.#readHead()) return [];
    if (this.#bodyMode === 'chunked') return this.#readChunks();
    return this.#readBody();
  }

  /** The connection has ended: true when that is the end of the body too. */
  end(): boolean {
    return this.isComplete || this.#bodyMode === 'open';
  }

  #readHead(): boolean {
    const cut = this.#buffer.indexOf(HEAD_END);
    if (cut === -1) {
      if (this.#buffer.length > MAX_HEAD_BYTES)
        throw this.#createError(`sent more than ${MAX_HEAD_BYTES} bytes of response headers`);
      return false;
    }
    const [first = '', ...lines] = this.#buffer.toString('latin1', 0, cut).split(LINE_END);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1];
    if (status === undefined) throw this.#createError('did not send an HTTP response');
    this.#buffer = this.#buffer.subarray(cut + HEAD_END.length);
    // "100 Continue" and the like come before the answer.
    if (status.startsWith('1')) return this.#readHead();
    this.status = Number(status);
    this.#chooseBodyMode(new Map(lines.map(toHeader)));
    return true;
  }

  #chooseBodyMode(headers: ReadonlyMap<string, string>): void {
    const length = headers.get('content-length');
    this.problemCount = Number(headers.get('turnbuckle-problems') ?? 0);
    if (headers.get('transfer-encoding')?.toLowerCase().includes('chunked') === true)
      this.#bodyMode = 'chunked';
    else if (length === undefined)
      this.#bodyMode = this.status === 204 || this.status === 304 ? 'counted' : 'open';
    else {
      if (!/^\d{1,15}$/.test(length)) throw this.#createError('sent an invalid Content-Length');
      this.#bodyMode = 'counted';
      this.#remainingBytes = Number(length);
    }
  }

  #readBody(): Buffer[] {
    const bytes = this.#bodyMode === 'open' ? this.#buffer : this.#buffer.subarray(0, this.#remainingBytes);
    this.#buffer = Buffer.alloc(0);
    if (this.#bodyMode === 'counted') {
      this.#remainingBytes -= bytes.length;
      this.isComplete = this.#remainingBytes === 0;
    }
    return bytes.length === 0 ? [] : [bytes];
  }

  #readChunks(): Buffer[] {
    const parts: Buffer[] = [];
    while (!this.isComplete) {
      if (this.#remainingBytes === 0 && !this.#readChunkLength()) break;
      if (this.isComplete || this.#buffer.length === 0) break;
      const bytes = this.#buffer.subarray(0, this.#remainingBytes);
      this.#buffer = this.#buffer.subarray(bytes.length);
      // The line end behind a chunk is not a part of it.
      const content = bytes.length - Math.max(LINE_END.length - (this.#remainingBytes - bytes.length), 0);
      this.#remainingBytes -= bytes.length;
      if (content > 0) parts.push(bytes.subarray(0, content));
    }
    return parts;
  }

  #readChunkLength(): boolean {
    const cut = this.#buffer.indexOf(LINE_END);
    if (cut === -1) {
      if (this.#buffer.length > MAX_HEAD_BYTES)
        throw this.#createError('sent a chunk without a valid length');
      return false;
    }
    const digits = /^[0-9a-f]+/i.exec(this.#buffer.toString('latin1', 0, cut))?.[0] ?? '';
    if (digits === '' || digits.length > MAX_CHUNK_LENGTH_DIGITS)
      throw this.#createError('sent a chunk without a valid length');
    this.#buffer = this.#buffer.subarray(cut + LINE_END.length);
    const length = Number.parseInt(digits, 16);
    this.isComplete = length === 0;
    this.#remainingBytes = length === 0 ? 0 : length + LINE_END.length;
    return true;
  }
}

function toHeader(line: string): [string, string] {
  const cut = line.indexOf(':');
  return [line.slice(0, cut).toLowerCase(), line.slice(cut + 1).trim()];
}
