/**
 * Servers that a project brings along start only after its user agreed to exactly these: the agreement is
 * bound to the project, the name and a hash of everything that decides what would run or be contacted, with
 * placeholders unexpanded. Any change asks again.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { replaceFile } from './edit/atomic-file.js';
import { withFileLock } from './edit/file-lock.js';
import { realTarget } from './edit/real-target.js';
import type { InputDeclaration } from './file-schema.js';

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
  readonly agreedAt: string;
}

/** The agreements of this user, in a file of the state directory. */
export class TrustStore {
  /** Where they are kept. */
  readonly file: string;
  readonly #now: () => number;

  constructor(stateDir: string, now: () => number = Date.now) {
    this.file = join(stateDir, 'trust.json');
    this.#now = now;
  }

  async isTrusted(subject: TrustSubject): Promise<boolean> {
    return (await this.#read())[keyOf(subject)]?.hash === trustHash(subject);
  }

  async agree(subjects: readonly TrustSubject[]): Promise<void> {
    const agreedAt = new Date(this.#now()).toISOString();
    await this.#change((all) => {
      for (const subject of subjects) all[keyOf(subject)] = { hash: trustHash(subject), agreedAt };
    });
  }

  async withdraw(subjects: readonly TrustSubject[]): Promise<void> {
    await this.#change((all) => {
      for (const subject of subjects) delete all[keyOf(subject)];
    });
  }

  async #read(): Promise<Record<string, Agreement>> {
    return readFile(this.file, 'utf8').then(parseAgreements, () => ({}));
  }

  async #change(change: (all: Record<string, Agreement>) => void): Promise<void> {
    const target = realTarget(this.file);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await withFileLock(target, async () => {
      const all = await this.#read();
      change(all);
      await replaceFile(target, `${JSON.stringify(all, null, 2)}\n`);
    });
  }
}

/** Why a server of a project is not started yet. */
export function trustRequired({ name }: TrustSubject, file: string): TurnbuckleError {
  return new TurnbuckleError(
    'TRUST_REQUIRED',
    `Server "${name}" comes from a project and has not been agreed to (${file}).`,
    {
      server: name,
      hint: `Look at it and agree: turnbuckle trust ${name}`,
      data: { file },
    },
  );
}

const keyOf = ({ directory, name }: TrustSubject): string => JSON.stringify([directory, name]);

function parseAgreements(text: string): Record<string, Agreement> {
  const agreements: Record<string, Agreement> = Object.create(null);
  try {
    const all: unknown = JSON.parse(text);
    for (const [key, value] of Object.entries(isRecord(all) ? all : {})) {
      if (isRecord(value) && typeof value.hash === 'string')
        agreements[key] = { hash: value.hash, agreedAt: String(value.agreedAt) };
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
