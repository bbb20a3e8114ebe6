/** Unusual JSON texts from a seeded random source: the same seed gives the same texts. */

const SCALARS = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1.0', '0.1', '1e400', '-1e400', '9007199254740993'],
  ...['1000000000', '1000000001', '3000000000', '""', '" "', '"2"', '"\\u0000"', '"\\ud800"', '"\\u202e"'],
  ...['"__proto__"', '"constructor"', '"toString"', '"hasOwnProperty"', '"then"', '"../x"', '"a\\nb"'],
  ...['"tools/call"', '"2026-07-28"', '"2025-11-25"', '"http://127.0.0.1:1/"', '"file:///etc/passwd"'],
];

const OBJECTS = [
  ...['{}', '[]', '[null]', '[{}]', '{"__proto__":{"polluted":true}}', '{"constructor":null}', '{"":{}}'],
  ...['{"then":1}', '{"toJSON":1}', '{"length":-1}', '{"a":1,"a":2}', '{"type":"object","$ref":"#"}'],
];

const MAX_DEPTH = 3_000;
const MAX_TEXT_CHARACTERS = 20_000;

export type Random = () => number;

export class FuzzJson {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** The JSON text of a random value. */
  value(): string {
    const kind = this.below(100);
    if (kind < 50) return this.pick(SCALARS);
    if (kind < 75) return this.pick(OBJECTS);
    if (kind < 80) return this.#deep();
    if (kind < 83) return JSON.stringify('x'.repeat(this.below(MAX_TEXT_CHARACTERS)));
    if (kind < 86) return `[${Array.from({ length: this.below(500) }, () => '{}').join(',')}]`;
    const members = Array.from({ length: this.below(4) }, () => this.value());
    return this.chance(0.5)
      ? `[${members.join(',')}]`
      : `{${members.map((member) => `${this.#key()}:${member}`).join(',')}}`;
  }

  /** An object with these members, some of them randomly omitted, repeated or replaced. */
  object(members: Readonly<Record<string, string>>, odd = 0.25): string {
    const written: string[] = [];
    for (const [key, text] of Object.entries(members)) {
      if (!this.chance(odd)) written.push(`${JSON.stringify(key)}:${text}`);
      else if (this.chance(0.8)) written.push(`${JSON.stringify(key)}:${this.value()}`);
      if (this.chance(odd / 10)) written.push(`${JSON.stringify(key)}:${this.value()}`);
    }
    if (this.chance(odd / 2)) written.push(`${this.#key()}:${this.value()}`);
    return `{${written.join(',')}}`;
  }

  /** The same text with a part removed, repeated or replaced. */
  damage(text: string): string {
    const at = this.below(text.length + 1);
    const end = Math.min(text.length, at + this.below(8));
    const kind = this.below(4);
    if (kind === 0) return text.slice(0, at);
    if (kind === 1) return text.slice(0, at) + text.slice(end);
    if (kind === 2) return text.slice(0, end) + text.slice(at);
    return (
      text.slice(0, at) +
      this.pick(['"', '{', ']', ',', '\\', '\u0000', '\ufeff', '💥', 'é']) +
      text.slice(end)
    );
  }

  #deep(): string {
    const depth = this.below(this.chance(0.2) ? MAX_DEPTH : 300);
    return this.chance(0.5)
      ? '['.repeat(depth) + ']'.repeat(depth)
      : `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
  }

  #key(): string {
    return this.pick([
      '"a"',
      '"_meta"',
      '"__proto__"',
      '"constructor"',
      '"id"',
      '"method"',
      '""',
      '"\\u0061"',
    ]);
  }
}
