/**
 * Project servers start only after the user agreed to exactly these. The agreement covers the project, the name, a
 * hash of everything that decides what would run or be contacted, with placeholders unexpanded, and the content of
 * the project files in its command. Any change requires a new agreement.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { TurnbuckleError } from '../../errors.js';
import { replaceFile } from '../../files/atomic-file.js';
import { withFileLock } from '../../files/file-lock.js';
import { makeDirectory } from '../../files/make-directory.js';
import { probePath, statOrUndefined, whyUnreadable } from '../../files/read-file.js';
import { realTarget } from '../../files/real-target.js';
import { isRecord } from '../../json/is-record.js';
import { shellQuote } from '../../text/shell-quote.js';
import type { InputDeclaration } from '../schema/file-schema.js';
import { namedFiles } from './named-files.js';

export interface TrustSubject {
  readonly name: string;
  /** The project's directory. */
  readonly directory: string;
  /** The entry as written in the file. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The inputs of its file: a default is part of what the file says. */
  readonly inputs?: readonly InputDeclaration[] | undefined;
}

const TRUSTED_FIELDS = [
  'type',
  'command',
  'args',
  'cwd',
  'url',
  'headers',
  'auth',
  'sandbox',
  'baseUrl',
  'id',
  'token',
];

/** Fields that older agreements did not cover. */
const LATER_FIELDS = ['mayAsk', 'transport', 'credentials'];

/** The fields that an agreement covers. Fields that only affect timing or lists are not included. */
export function trustHash({ entry, inputs = [] }: TrustSubject): string {
  const fields = Object.fromEntries(TRUSTED_FIELDS.map((key) => [key, entry[key] ?? null]));
  // The variables that it inherits are part of its environment like those that it sets.
  const env = { own: entry.env ?? null, inherited: entry.inheritEnv ?? null };
  // Only if set, so that older agreements stay valid.
  const set = LATER_FIELDS.filter((key) => entry[key] !== undefined).map((key) => [key, entry[key]] as const);
  const text = canonical({ ...fields, env, ...Object.fromEntries(set) });
  return createHash('sha256')
    .update(text)
    .update(
      defaultsUsed(text, inputs)
        .map((one) => `\n${canonical([one.id, one.default])}`)
        .join(''),
    )
    .digest('hex');
}

/** The inputs with a default that a JSON text refers to. */
export function defaultsUsed(json: string, inputs: readonly InputDeclaration[]): InputDeclaration[] {
  return inputs.filter((one) => {
    // As in the text: a quote in an id is escaped there.
    const id = JSON.stringify(one.id).slice(1, -1);
    return one.default !== undefined && json.includes(`\${input:${id}`);
  });
}

interface Agreement {
  readonly hash: string;
  /** A hash of each covered key; absent in old agreements. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly agreedAt: string;
  /** Hashes of the files in its command. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The agreements of this user, in a file of the state directory. */
export class TrustStore {
  /** Where they are kept. */
  readonly file: string;
  readonly #now: () => number;
  readonly #environment: Readonly<Record<string, string | undefined>>;

  constructor(
    stateDir: string,
    now: () => number = Date.now,
    environment: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.file = join(stateDir, 'trust.json');
    this.#now = now;
    this.#environment = environment;
  }

  async isTrusted(subject: TrustSubject): Promise<boolean> {
    return (await this.changedFiles(subject))?.length === 0;
  }

  /**
   * The files in a server's command whose content differs from what the user agreed to, relative to the project;
   * undefined if there is no agreement to the server itself.
   */
  async changedFiles(subject: TrustSubject): Promise<readonly string[] | undefined> {
    const agreement = (await this.#read())[keyOf(subject)];
    if (agreement?.hash !== trustHash(subject)) return undefined;
    const [then, now] = [agreement.files ?? {}, await this.namedFiles(subject)];
    const names = new Set([...Object.keys(then), ...Object.keys(now)]);
    return [...names].filter((name) => then[name] !== now[name]).sort();
  }

  /**
   * The keys of a server that differ from what the user agreed to; empty if only others changed or it is unknown
   * which. Undefined if there is no agreement, or it is still valid.
   */
  async changedKeys(subject: TrustSubject): Promise<readonly string[] | undefined> {
    const agreement = (await this.#read())[keyOf(subject)];
    if (agreement === undefined || agreement.hash === trustHash(subject)) return undefined;
    const [then, now] = [agreement.keys ?? {}, keyHashes(subject)];
    if (agreement.keys === undefined) return [];
    const names = new Set([...Object.keys(then), ...Object.keys(now)]);
    return [...names].filter((name) => then[name] !== now[name]).sort();
  }

  /**
   * The project files in a server's command, and their hashes. Throws CONFIG_INVALID if they cannot be determined:
   * then no agreement is possible or valid.
   */
  async namedFiles({ name, directory, entry }: TrustSubject): Promise<Readonly<Record<string, string>>> {
    try {
      return await namedFiles({ directory, entry, environment: this.#environment });
    } catch (cause) {
      throw new TurnbuckleError(
        'CONFIG_INVALID',
        `Cannot check a file named in the command of server "${name}": ${whyUnreadable(cause)}.`,
        {
          server: name,
          cause,
          hint: 'If the command is long, move it into a script in the project, and run that script.',
        },
      );
    }
  }

  async agree(subjects: readonly TrustSubject[]): Promise<void> {
    const agreedAt = new Date(this.#now()).toISOString();
    const agreements = await Promise.all(
      subjects.map(async (subject) => {
        const files = await this.namedFiles(subject);
        const some = Object.keys(files).length > 0 && { files };
        const keys = keyHashes(subject);
        return [keyOf(subject), { hash: trustHash(subject), keys, agreedAt, ...some }] as const;
      }),
    );
    await this.#change((all) => {
      for (const [key, agreement] of agreements) all[key] = agreement;
    });
  }

  /** Returns those that had an agreement. */
  async withdraw(subjects: readonly TrustSubject[]): Promise<readonly TrustSubject[]> {
    let found: readonly TrustSubject[] = [];
    await this.#change((all) => {
      found = subjects.filter((subject) => all[keyOf(subject)] !== undefined);
      for (const subject of found) delete all[keyOf(subject)];
    });
    return found;
  }

  async #read(): Promise<Record<string, Agreement>> {
    return readFile(this.file, 'utf8').then(parseAgreements, () => ({}));
  }

  async #change(change: (all: Record<string, Agreement>) => void): Promise<void> {
    await probePath(this.file);
    const target = realTarget(this.file);
    makeDirectory(dirname(target));
    await withFileLock(target, async () => {
      const all = await this.#read();
      change(all);
      await replaceFile(target, `${JSON.stringify(all, null, 2)}\n`);
    });
  }
}

export interface TrustChanges {
  /** Files in its command. */
  readonly files?: readonly string[];
  /** Those that no longer exist. */
  readonly removed?: readonly string[];
  /** Keys of its entry; undefined: there is no agreement to compare with. */
  readonly keys?: readonly string[] | undefined;
}

/** Why a project server is not started. */
export function trustRequired(
  subject: TrustSubject,
  file: string,
  { files = [], removed, keys }: TrustChanges = {},
): TurnbuckleError {
  const { name } = subject;
  const entry = keys === undefined ? undefined : keys.length === 0 ? 'entry' : `entry (${keys.join(', ')})`;
  const why =
    files.length > 0
      ? `, and ${formatFiles(files, removed)} since you trusted the server`
      : entry === undefined
        ? ' and is not trusted yet'
        : `, and its ${entry} changed since you trusted the server`;
  const warnOnly =
    files.length > 0
      ? 'To get only a warning in your own projects, set "changedScripts": "warn" in your user file. '
      : '';
  return new TurnbuckleError('TRUST_REQUIRED', `Server "${name}" is defined in a project${why} (${file}).`, {
    server: name,
    hint: `${warnOnly}Review the server, then trust it: turnbuckle trust ${shellQuote(name)}`,
    data: {
      file,
      ...(files.length > 0 && { changed: files }),
      ...(keys !== undefined && { changedKeys: keys }),
    },
  });
}

/** A warning about a project server that is started anyway. */
export function trustChanged(
  subject: TrustSubject,
  file: string,
  { files: changed = [], removed }: TrustChanges,
): TurnbuckleError {
  const { name } = subject;
  return new TurnbuckleError(
    'TRUST_REQUIRED',
    `Server "${name}" is defined in a project and is in use, but ${formatFiles(changed, removed)} since you trusted the server (${file}).`,
    {
      server: name,
      hint: `The server is in use because changedScripts is "warn". Review the server, then trust it: turnbuckle trust ${shellQuote(name)}`,
      data: { file, changed },
    },
  );
}

/** The files that no longer exist. */
export async function findRemovedFiles(
  { directory }: TrustSubject,
  files: readonly string[],
): Promise<string[]> {
  const facts = await Promise.all(files.map((file) => statOrUndefined(resolve(directory, file))));
  return files.filter((_, index) => facts[index] === undefined);
}

const MAX_REPORTED_FILES = 5;

/** `"a.js" changed and "b.js" was removed`. */
function formatFiles(files: readonly string[], removed: readonly string[] = []): string {
  const isGone = (file: string): boolean => removed.includes(file);
  const list = (some: readonly string[]): string => {
    const quoted = some.slice(0, MAX_REPORTED_FILES).map((file) => JSON.stringify(file));
    return some.length > MAX_REPORTED_FILES
      ? `${quoted.join(', ')} and ${some.length - MAX_REPORTED_FILES} more`
      : quoted.join(', ');
  };
  const [gone, changed] = [files.filter(isGone), files.filter((file) => !isGone(file))];
  return [
    ...(changed.length > 0 ? [`${list(changed)} changed`] : []),
    ...(gone.length > 0 ? [`${list(gone)} ${gone.length === 1 ? 'was' : 'were'} removed`] : []),
  ].join(' and ');
}

/** Enough to detect a change, too little to guess the value. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** A hash of each key that an agreement covers. */
function keyHashes({ entry }: TrustSubject): Record<string, string> {
  const present = [...TRUSTED_FIELDS, ...LATER_FIELDS, 'env', 'inheritEnv'].filter(
    (key) => entry[key] !== undefined,
  );
  return Object.fromEntries(present.map((key) => [key, shortHash(canonical(entry[key]))]));
}

const keyOf = ({ directory, name }: TrustSubject): string => JSON.stringify([directory, name]);

function parseAgreements(text: string): Record<string, Agreement> {
  const agreements: Record<string, Agreement> = Object.create(null);
  try {
    const all: unknown = JSON.parse(text);
    for (const [key, value] of Object.entries(isRecord(all) ? all : {})) {
      if (isRecord(value) && typeof value.hash === 'string')
        agreements[key] = {
          hash: value.hash,
          ...(isRecord(value.keys) && { keys: value.keys as Record<string, string> }),
          agreedAt: String(value.agreedAt),
          files: (isRecord(value.files) ? value.files : {}) as Record<string, string>,
        };
    }
  } catch {
    // An unreadable file contains no agreements: everything requires a new one.
  }
  return agreements;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}
