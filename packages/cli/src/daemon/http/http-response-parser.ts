/** Reads an HTTP/1.1 answer as it comes. */
const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const MOST_HEAD_BYTES = 64 * 1_024;
/** More digits than any chunk's length needs. */
const MOST_LENGTH_DIGITS = 12;

export class HttpReader {
  status = 0;
  /** True when the end of the body has come. */
  isWhole = false;
  /** How much the daemon says is wrong with its configuration. */
  problems = 0;
  #rest: Buffer = Buffer.alloc(0);
  #body: 'head' | 'chunked' | 'counted' | 'open' = 'head';
  /** Bytes of the body, or of the chunk and its line end, that are still to come. */
  #left = 0;
  readonly #wrong: (what: string) => Error;

  /** Makes the error that says what is wrong with the answer. */
  constructor(wrong: (what: string) => Error) {
    this.#wrong = wrong;
  }

  /** The parts of the body that this brings. Throws what is no HTTP. */
  take(part: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    if (this.#body === 'head' && !this.#readHead()) return [];
    if (this.#body === 'chunked') return this.#readChunks();
    return this.#readPlain();
  }

  /** The connection has ended: true when that is the end of the body too. */
  end(): boolean {
    return this.isWhole || this.#body === 'open';
  }

  #readHead(): boolean {
    const cut = this.#rest.indexOf(HEAD_END);
    if (cut === -1) {
      if (this.#rest.length > MOST_HEAD_BYTES)
        throw this.#wrong('sends a head of an answer that does not end');
      return false;
    }
    const [first = '', ...lines] = this.#rest.toString('latin1', 0, cut).split(LINE_END);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1];
    if (status === undefined) throw this.#wrong('does not answer in HTTP');
    this.#rest = this.#rest.subarray(cut + HEAD_END.length);
    // "100 Continue" and the like come before the answer.
    if (status.startsWith('1')) return this.#readHead();
    this.status = Number(status);
    this.#choose(new Map(lines.map(toHeader)));
    return true;
  }

  #choose(headers: ReadonlyMap<string, string>): void {
    const length = headers.get('content-length');
    this.problems = Number(headers.get('turnbuckle-problems') ?? 0);
    if (headers.get('transfer-encoding')?.toLowerCase().includes('chunked') === true) this.#body = 'chunked';
    else if (length === undefined)
      this.#body = this.status === 204 || this.status === 304 ? 'counted' : 'open';
    else {
      if (!/^\d{1,15}$/.test(length)) throw this.#wrong('sends an answer whose length is no number');
      this.#body = 'counted';
      this.#left = Number(length);
    }
  }

  #readPlain(): Buffer[] {
    const bytes = this.#body === 'open' ? this.#rest : this.#rest.subarray(0, this.#left);
    this.#rest = Buffer.alloc(0);
    if (this.#body === 'counted') {
      this.#left -= bytes.length;
      this.isWhole = this.#left === 0;
    }
    return bytes.length === 0 ? [] : [bytes];
  }

  #readChunks(): Buffer[] {
    const parts: Buffer[] = [];
    while (!this.isWhole) {
      if (this.#left === 0 && !this.#readLength()) break;
      if (this.isWhole || this.#rest.length === 0) break;
      const bytes = this.#rest.subarray(0, this.#left);
      this.#rest = this.#rest.subarray(bytes.length);
      // The line end behind a chunk is not a part of it.
      const content = bytes.length - Math.max(LINE_END.length - (this.#left - bytes.length), 0);
      this.#left -= bytes.length;
      if (content > 0) parts.push(bytes.subarray(0, content));
    }
    return parts;
  }

  #readLength(): boolean {
    const cut = this.#rest.indexOf(LINE_END);
    if (cut === -1) {
      if (this.#rest.length > MOST_HEAD_BYTES)
        throw this.#wrong('sends a part of an answer without a length');
      return false;
    }
    const digits = /^[0-9a-f]+/i.exec(this.#rest.toString('latin1', 0, cut))?.[0] ?? '';
    if (digits === '' || digits.length > MOST_LENGTH_DIGITS)
      throw this.#wrong('sends a part of an answer without a length');
    this.#rest = this.#rest.subarray(cut + LINE_END.length);
    const length = Number.parseInt(digits, 16);
    this.isWhole = length === 0;
    this.#left = length === 0 ? 0 : length + LINE_END.length;
    return true;
  }
}

function toHeader(line: string): [string, string] {
  const cut = line.indexOf(':');
  return [line.slice(0, cut).toLowerCase(), line.slice(cut + 1).trim()];
}
