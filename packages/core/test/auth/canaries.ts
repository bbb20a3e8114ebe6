/** Unique secrets, and the search for them in all output. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

/** Typical secrets: plain, with punctuation, with quotes and spaces, long. */
const KINDS: ReadonlyArray<(random: string) => string> = [
  (random) => `canary-${random}`,
  (random) => `${random.slice(0, 12)}/+${random.slice(12)}==`,
  (random) => `${random.slice(0, 8)} "quoted" & more ${random.slice(8)}`,
  (random) => `can${random.repeat(4)}ary`,
  (random) => `p@ss:w0rd%${random}`,
];

export class Canaries {
  readonly #placed = new Map<string, string>();

  /** A new secret for this place. `token`: only characters that need no escaping in a header or a URL. */
  place(where: string, kind: 'any' | 'token' = 'any'): string {
    const make = KINDS[kind === 'token' ? 0 : this.#placed.size % KINDS.length] ?? String;
    const secret = make(randomBytes(12).toString('hex'));
    this.#placed.set(where, secret);
    return secret;
  }

  get count(): number {
    return this.#placed.size;
  }

  /** The places whose secret is in the text, verbatim or encoded. */
  foundIn(text: string, { except = [] as readonly string[] } = {}): string[] {
    return [...this.#placed]
      .filter(
        ([where, secret]) => !except.includes(where) && encodings(secret).some((one) => text.includes(one)),
      )
      .map(([where]) => where);
  }

  /** The places whose secret is in the text verbatim. */
  plainlyIn(text: string): string[] {
    return [...this.#placed].filter(([, secret]) => text.includes(secret)).map(([where]) => where);
  }
}

function encodings(secret: string): string[] {
  const half = Math.floor(secret.length / 2);
  return [
    secret,
    // Half of a secret is a leak too.
    secret.slice(0, half),
    secret.slice(half),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(`user:${secret}`).toString('base64').replace(/=+$/, ''),
  ];
}

/** Everything that a program could print of a value: as JSON, on the console, as a string. */
export function everythingIn(value: unknown): string {
  const json = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  );
  const shown = inspect(value, { depth: 30, maxStringLength: null, maxArrayLength: null, showHidden: true });
  return [json, shown, String(value), value instanceof Error ? value.stack : ''].join('\n');
}
