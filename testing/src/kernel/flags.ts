/** Command line of a fixture: `--name value`, `--name=value` or a bare `--name`; `FIXTURE_NAME` as fallback. */
export class Flags {
  readonly #given = new Map<string, string>();
  readonly #environment: NodeJS.ProcessEnv;

  constructor(args: readonly string[] = process.argv.slice(2), environment = process.env) {
    this.#environment = environment;
    for (let index = 0; index < args.length; index += 1) {
      const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(args[index] ?? '') ?? [];
      if (name === undefined) throw new Error(`unexpected argument ${args[index]}`);
      const following = args[index + 1];
      const takesFollowing = inline === undefined && following !== undefined && !following.startsWith('--');
      this.#given.set(name, inline ?? (takesFollowing ? following : 'true'));
      if (takesFollowing) index += 1;
    }
  }

  /** The flag's value, or the fallback. */
  text(name: string, fallback = ''): string {
    return this.#given.get(name) ?? this.#environment[toVariable(name)] ?? fallback;
  }

  /** The flag as a number; throws for any other value. */
  number(name: string, fallback: number): number {
    const value = Number(this.text(name, String(fallback)));
    if (Number.isNaN(value)) throw new Error(`--${name} must be a number`);
    return value;
  }

  /** One of the allowed values; throws for any other. */
  choice<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const given = this.text(name, words[0]);
    const word = words.find((candidate) => candidate === given);
    if (word === undefined) throw new Error(`--${name} must be one of ${words.join(', ')}`);
    return word;
  }

  /** True if the flag is set, and not to `false` or 0. */
  on(name: string): boolean {
    return !['', 'false', '0'].includes(this.text(name));
  }
}

function toVariable(name: string): string {
  return `FIXTURE_${name.toUpperCase().replaceAll('-', '_')}`;
}
