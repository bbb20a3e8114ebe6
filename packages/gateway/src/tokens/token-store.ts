/** The tokens of one state directory: made, listed, revoked, and known again when somebody brings one. */
import { TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import type { TokenAccess } from '../http/access.js';
import type { Credentials, Visitor } from '../http/visitor.js';
import { makePrivateDirectory } from '../instance/private-file.js';
import { readOwnerToken, writeOwnerToken } from './owner-token.js';
import { TokenFile } from './token-file.js';
import { ACCESS, hashOf, isOwnToken, makeToken, TokenRecord } from './token-record.js';
import { TokenUse } from './token-use.js';

export interface TokenStoreOptions {
  readonly stateDir: string;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** The file was open to others, or cannot be read any more. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

export interface TokenRequest {
  readonly name: string;
  /** Capabilities, such as `mcp_github`; `mcp_integration` for all. */
  readonly can: readonly string[];
  readonly access: readonly TokenAccess[];
  readonly expiresAt?: Date | undefined;
  /** The token that makes it, or from which that comes; absent: the owner does. */
  readonly root?: string | undefined;
}

export interface TokenFacts {
  readonly name: string;
  readonly can: readonly string[];
  readonly access: readonly TokenAccess[];
  /** Times in ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly lastUsedAt?: string | undefined;
  /** The token that made it, or from which its maker comes; absent: the owner made it. */
  readonly root?: string | undefined;
}

/** The name of the owner's own token: for everything, always there. */
export const OWNER = 'owner';

interface Known {
  readonly visitor: Visitor;
  readonly expiresAt: number;
}

export class TokenStore implements Credentials {
  readonly #stateDir: string;
  readonly #now: () => number;
  readonly #file: TokenFile;
  readonly #use: TokenUse;
  #records: ReadonlyMap<string, TokenRecord> | undefined;
  #known: ReadonlyMap<string, Known> = new Map();

  private constructor({ stateDir, now = Date.now, onWarning = () => {} }: TokenStoreOptions) {
    makePrivateDirectory(stateDir);
    this.#stateDir = stateDir;
    this.#now = now;
    this.#file = new TokenFile({ stateDir, now, onWarning });
    this.#use = new TokenUse(stateDir, now);
  }

  /** Makes the owner's token if there is none. SECRETS_UNAVAILABLE when the file is damaged or somebody else's. */
  static async open(options: TokenStoreOptions): Promise<TokenStore> {
    const store = new TokenStore(options);
    if (!store.#hasOwner(store.#file.records())) await store.#renewOwner((hash) => !store.#isOwners(hash));
    return store;
  }

  find(token: string): Visitor | undefined {
    if (!isOwnToken(token)) return undefined;
    const hash = hashOf(token);
    const now = this.#now();
    // One that is not known may have been made a moment ago, by another process.
    const known = this.#all(now).get(hash) ?? this.#all(now, true).get(hash);
    if (known === undefined || known.expiresAt <= now) return undefined;
    this.#use.mark(hash, now);
    return known.visitor;
  }

  /** The token is told once, here. ARGUMENTS_INVALID, or NAME_TAKEN when there is one of that name. */
  async create(request: TokenRequest): Promise<{ readonly token: string; readonly facts: TokenFacts }> {
    const { token, record } = this.#make(request);
    await this.#file.change((records) => {
      if (record.name !== OWNER && records.every(({ name }) => name !== record.name))
        return [...records, record];
      throw new TurnbuckleError('NAME_TAKEN', `There is a token "${record.name}" already.`, {
        hint: 'Choose another name, or revoke that one first.',
      });
    });
    return { token, facts: this.#factsOf(record) };
  }

  /** Good for nothing from now on, within a second in other processes; false when there is none of that name. The owner's is replaced. */
  async revoke(name: string): Promise<boolean> {
    if (name === OWNER) {
      await this.#renewOwner(() => true);
      return true;
    }
    let found = false;
    await this.#file.change((records) => {
      found = records.some((record) => record.name === name);
      return found ? records.filter((record) => record.name !== name) : records;
    });
    return found;
  }

  /** By name, the expired ones too. */
  list(): TokenFacts[] {
    return [...this.#file.records().values()]
      .map((record) => this.#factsOf(record))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Keeps when tokens were last used. */
  close(): void {
    this.#use.write();
  }

  #all(now: number, isFresh = false): ReadonlyMap<string, Known> {
    const records = this.#file.records(now, isFresh);
    if (records !== this.#records) {
      this.#records = records;
      this.#known = new Map([...records].map(([hash, record]) => [hash, toKnown(record)]));
      this.#use.forget((hash) => records.has(hash));
    }
    return this.#known;
  }

  #make({ name, can, access, expiresAt, root }: TokenRequest): { token: string; record: TokenRecord } {
    const token = makeToken();
    const now = this.#now();
    const checked = z.safeParse(
      TokenRecord,
      {
        name,
        hash: hashOf(token),
        access: [...new Set(access)],
        can: [...new Set(can)],
        createdAt: new Date(now).toISOString(),
        ...(expiresAt && { expiresAt: isoOf(expiresAt) }),
        ...(root !== undefined && { root }),
      },
      { error: en().localeError },
    );
    if (!checked.success)
      throw invalid(checked.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
    if (expiresAt !== undefined && expiresAt.getTime() <= now)
      throw invalid([{ path: 'expiresAt', message: 'it is in the past' }]);
    return { token, record: checked.data };
  }

  #hasOwner(records: ReadonlyMap<string, TokenRecord>): boolean {
    const token = readOwnerToken(this.#stateDir);
    return token !== undefined && records.get(hashOf(token))?.name === OWNER;
  }

  #isOwners(hash: string): boolean {
    const token = readOwnerToken(this.#stateDir);
    return token !== undefined && hashOf(token) === hash;
  }

  /** Unless the one that there is by then, made by another process perhaps, will do. */
  #renewOwner(isBad: (hash: string) => boolean): Promise<void> {
    return this.#file.change((records) => {
      const old = records.find(({ name }) => name === OWNER);
      if (old !== undefined && !isBad(old.hash)) return records;
      const { token, record } = this.#make({ name: OWNER, can: ['mcp_integration'], access: ACCESS });
      writeOwnerToken(this.#stateDir, token);
      return [record, ...records.filter(({ name }) => name !== OWNER)];
    });
  }

  #factsOf({ name, can, access, hash, createdAt, expiresAt, root }: TokenRecord): TokenFacts {
    const used = this.#use.lastUsed(hash);
    const lastUsedAt = used === undefined ? undefined : new Date(used).toISOString();
    return { name, can, access, createdAt, expiresAt, lastUsedAt, root };
  }
}

function toKnown({ name, can, access, expiresAt, root }: TokenRecord): Known {
  const ends = expiresAt === undefined ? undefined : Date.parse(expiresAt);
  return {
    visitor: { caller: { id: name, capabilities: can }, access: new Set(access), expiresAt: ends, root },
    expiresAt: ends ?? Number.POSITIVE_INFINITY,
  };
}

const isoOf = (date: Date): string => (Number.isNaN(date.getTime()) ? 'no time' : date.toISOString());

function invalid(faults: ReadonlyArray<{ path: string; message: string }>): TurnbuckleError {
  const list = faults.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new TurnbuckleError('ARGUMENTS_INVALID', `The token cannot be made like that: ${list}.`, {
    hint: 'Correct the named keys.',
    data: { faults },
  });
}
