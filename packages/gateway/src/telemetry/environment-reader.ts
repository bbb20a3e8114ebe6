/** Reads environment variables of known forms. A malformed one is a warning that names it, without its value. */

export interface IntegerRange {
  /** The value if the variable is absent or malformed. */
  readonly usual: number;
  readonly min: number;
  readonly max: number;
}

const MAX_VALUE_LENGTH = 16_384;
const MAX_PAIRS = 128;
const HEADER_NAME = /^[\w!#$%&'*+\-.^`|~]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** Those of the connection and of the body belong to the sender. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export class EnvironmentReader {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #onWarning: (message: string) => void;
  readonly #warned = new Set<string>();

  constructor(
    environment: Readonly<Record<string, string | undefined>>,
    onWarning: (message: string) => void,
  ) {
    this.#environment = environment;
    this.#onWarning = onWarning;
  }

  /** Once for each variable: several settings may read it. */
  warn(name: string, problem: string): void {
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#onWarning(`${name} ${problem}`);
  }

  /** An empty variable counts as absent. */
  text(name: string): string | undefined {
    const value = this.#environment[name]?.trim();
    if (value === undefined || value === '') return undefined;
    if (value.length <= MAX_VALUE_LENGTH) return value;
    this.warn(name, `is ignored because it has more than ${MAX_VALUE_LENGTH} characters.`);
    return undefined;
  }

  has(name: string): boolean {
    return this.text(name) !== undefined;
  }

  word(name: string, words: readonly string[], instead = 'The value is ignored.'): string | undefined {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined || words.includes(value)) return value;
    this.warn(name, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}. ${instead}`);
    return undefined;
  }

  integer(name: string, { usual, min, max }: IntegerRange): number {
    const value = this.text(name);
    if (value === undefined) return usual;
    const number = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    this.warn(name, `must be a whole number from ${min} to ${max}. Using ${usual}.`);
    return usual;
  }

  ratio(name: string): number {
    const value = this.text(name);
    if (value === undefined) return 1;
    const number = /^\d*\.?\d+(?:e-?\d{1,3})?$/i.test(value) ? Number(value) : Number.NaN;
    if (number >= 0 && number <= 1) return number;
    this.warn(name, 'must be a number from 0 to 1. Using 1.');
    return 1;
  }

  url(name: string): string | undefined {
    return this.checkUrl(name, this.text(name) ?? '', 'Nothing is exported to this endpoint.');
  }

  checkUrl(name: string, value: string, instead: string): string | undefined {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
    if (isHttp && url?.username === '' && url.password === '') return value;
    this.warn(
      name,
      `must be an http or https URL without a user name or password (put credentials in the headers). ${instead}`,
    );
    return undefined;
  }

  /** `key=value,key=value`, with percent-encoded values. Malformed pairs are left out. */
  pairs(name: string): Record<string, string> {
    const parts = (this.text(name) ?? '').split(',', MAX_PAIRS).filter((part) => part.trim() !== '');
    const found: Record<string, string> = Object.create(null);
    for (const part of parts) {
      const equals = part.indexOf('=');
      const key = part.slice(0, Math.max(equals, 0)).trim();
      const value = decode(part.slice(equals + 1).trim());
      if (key === '' || value === undefined)
        this.warn(name, 'must have the form key=value,key=value. Malformed entries are ignored.');
      else found[key] = value;
    }
    return found;
  }

  headers(name: string): Readonly<Record<string, string>> {
    return this.checkHeaders(name, this.pairs(name));
  }

  checkHeaders(name: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const valid = Object.entries(headers).filter(([key, value]) => {
      const isReserved = RESERVED_HEADERS.has(key.toLowerCase());
      const isValid = HEADER_NAME.test(key) && HEADER_VALUE.test(value) && !isReserved;
      if (!isValid)
        this.warn(
          name,
          'has an entry that is not a valid HTTP header, or that the exporter sets itself. The entry is ignored.',
        );
      return isValid;
    });
    return Object.fromEntries(valid.map(([key, value]) => [key.toLowerCase(), value]));
  }
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
