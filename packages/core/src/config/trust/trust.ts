/**
 * Servers that a project brings along start only after its user agreed to exactly these: the agreement is
 * bound to the project, the name and a hash of everything that decides what would run or be contacted, with
 * placeholders unexpanded, and to the content of the project's files that its command names. Any change asks again.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { replaceFile } from './edit/atomic-file.js';
import { withFileLock } from './edit/file-lock.js';
import { makeDirectory } from './edit/make-directory.js';
import { realTarget } from './edit/real-target.js';
import type { InputDeclaration } from './file-schema.js';
import { namedFiles } from './named-files.js';
import { factsOf, reach, whyUnreadable } from './read-file.js';

export interface TrustSubject {
  readonly name: string;
  /** The project's directory. */
  readonly directory: string;
  /** The entry as it is written in the file. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** What its file says about inputs: a default is as much the file's word as the entry. */
  readonly inputs?: readonly InputDeclaration[] | undefined;
}

const FIELDS = [
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

/** What was agreed to: nine fields and their kin. What only shapes timing or lists is not part of it. */
export function trustHash({ entry, inputs = [] }: TrustSubject): string {
  const fields = Object.fromEntries(FIELDS.map((key) => [key, entry[key] ?? null]));
  // Which of the host's variables it sees is as much its environment as what it sets itself.
  const env = { own: entry.env ?? null, inherited: entry.inheritEnv ?? null };
  // Only where it is written, so that agreements from before still hold.
  const asks = entry.mayAsk === undefined ? {} : { mayAsk: entry.mayAsk };
  const text = canonical({ ...fields, env, ...asks });
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
    // As the text has it: a quote in an id is escaped there.
    const id = JSON.stringify(one.id).slice(1, -1);
    return one.default !== undefined && json.includes(`\${input:${id}`);
  });
}

interface Agreement {
  readonly hash: string;
  /** Of each key that decides what would run, what stands for its value; absent in old ones. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly agreedAt: string;
  /** Of the files that its command names, what stands for their content. */
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
   * The files named by a server's command whose content is not what was agreed to, as paths from the project's
   * directory; undefined when the server itself was not agreed to.
   */
  async changedFiles(subject: TrustSubject): Promise<readonly string[] | undefined> {
    const agreement = (await this.#read())[keyOf(subject)];
    if (agreement?.hash !== trustHash(subject)) return undefined;
    const [then, now] = [agreement.files ?? {}, await this.namedFiles(subject)];
    const names = new Set([...Object.keys(then), ...Object.keys(now)]);
    return [...names].filter((name) => then[name] !== now[name]).sort();
  }

  /**
   * The keys of a server that are not what was agreed to; empty when only others changed, or it is not known which.
   * Undefined when nothing was agreed to, or it still is.
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
   * The project's files that a server's command names, and what stands for their content. CONFIG_INVALID where that
   * cannot be told: then nothing can be agreed to, and what was is not enough.
   */
  async namedFiles({ name, directory, entry }: TrustSubject): Promise<Readonly<Record<string, string>>> {
    try {
      return await namedFiles({ directory, entry, environment: this.#environment });
    } catch (cause) {
      throw new TurnbuckleError(
        'CONFIG_INVALID',
        `The files that the command of server "${name}" names cannot be looked at: ${whyUnreadable(cause)}.`,
        { server: name, cause, hint: 'Put a long command into a script of the project, and name that.' },
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

  /** Answers those that there was an agreement to. */
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
    await reach(this.file);
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
  /** Files that its command names. */
  readonly files?: readonly string[];
  /** Those of them that are not there any more. */
  readonly removed?: readonly string[];
  /** Keys of its entry; undefined: there is no agreement that it could differ from. */
  readonly keys?: readonly string[] | undefined;
}

/** Why a server of a project is not started yet. */
export function trustRequired(
  subject: TrustSubject,
  file: string,
  { files = [], removed, keys }: TrustChanges = {},
): TurnbuckleError {
  const { name } = subject;
  const entry = keys === undefined ? undefined : keys.length === 0 ? 'entry' : keys.join(', ');
  const why =
    files.length > 0
      ? `whose ${tellFiles(files, removed)} since it was agreed to`
      : entry === undefined
        ? 'and has not been agreed to'
        : `whose ${entry} changed since it was agreed to`;
  const warnOnly =
    files.length > 0
      ? '. In your own projects: "changedScripts": "warn" in your file only warns of that'
      : '';
  return new TurnbuckleError('TRUST_REQUIRED', `Server "${name}" comes from a project ${why} (${file}).`, {
    server: name,
    hint: `Look at it and agree: turnbuckle trust ${name}${warnOnly}`,
    data: {
      file,
      ...(files.length > 0 && { changed: files }),
      ...(keys !== undefined && { changedKeys: keys }),
    },
  });
}

/** That such a server is started all the same. */
export function trustChanged(
  subject: TrustSubject,
  file: string,
  { files: changed = [], removed }: TrustChanges,
): TurnbuckleError {
  const { name } = subject;
  return new TurnbuckleError(
    'TRUST_REQUIRED',
    `Server "${name}" of a project is used although its ${tellFiles(changed, removed)} since it was agreed to (${file}).`,
    {
      server: name,
      hint: `Look at it and agree: turnbuckle trust ${name}. The setting changedScripts is "warn".`,
      data: { file, changed },
    },
  );
}

/** Those of some files of a project that are not there any more. */
export async function removedOf({ directory }: TrustSubject, files: readonly string[]): Promise<string[]> {
  const facts = await Promise.all(files.map((file) => factsOf(resolve(directory, file))));
  return files.filter((_, index) => facts[index] === undefined);
}

const MAX_TOLD = 5;

/** `"a.js" changed and "b.js" was removed`. */
function tellFiles(files: readonly string[], removed: readonly string[] = []): string {
  const isGone = (file: string): boolean => removed.includes(file);
  const list = (some: readonly string[]): string => {
    const told = some.slice(0, MAX_TOLD).map((file) => JSON.stringify(file));
    return some.length > MAX_TOLD ? `${told.join(', ')} and ${some.length - MAX_TOLD} more` : told.join(', ');
  };
  const [gone, changed] = [files.filter(isGone), files.filter((file) => !isGone(file))];
  return [
    ...(changed.length > 0 ? [`${list(changed)} changed`] : []),
    ...(gone.length > 0 ? [`${list(gone)} ${gone.length === 1 ? 'was' : 'were'} removed`] : []),
  ].join(' and ');
}

/** Enough to tell that something changed, too little to find out a value by trying. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** What stands for each of the keys that an agreement is about. */
function keyHashes({ entry }: TrustSubject): Record<string, string> {
  const present = [...FIELDS, 'env', 'inheritEnv', 'mayAsk'].filter((key) => entry[key] !== undefined);
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
    // An unreadable file holds no agreement: everything is asked again.
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
