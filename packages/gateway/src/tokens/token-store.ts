/** The tokens of one state directory: made, listed, revoked, and known again when somebody brings one. */
import { join } from 'node:path';
import { makeDirectory, TurnbuckleError } from 'turnbuckle';
import { describeIssue } from 'turnbuckle/issue-text';
import * as z from 'zod/mini';
import type { TokenAccess } from '../http/access.js';
import type { Credentials, Visitor } from '../http/visitor.js';
import { VisitorEnd } from '../http/visitor-end.js';
import { isDiskFault } from '../instance/disk-fault.js';
import { readOwnerToken, writeOwnerToken } from './owner-token.js';
import { cannotWrite, TokenFile } from './token-file.js';
import { ACCESS, hashOf, identityOfToken, isOwnToken, makeToken, TokenRecord } from './token-record.js';
import { TokenUse } from './token-use.js';

export interface TokenStoreOptions {
  readonly stateDir: string;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** The file was open to others, or cannot be read any more. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** A token is revoked or has expired; everybody who listened for that was told. */
  readonly onEnded?: ((visitor: Visitor) => void) | undefined;
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

/** What these mean in a rule is not one agent. */
const WORDS_OF_RULES: ReadonlySet<string> = new Set(['host', 'agents']);

interface Known {
  readonly record: TokenRecord;
  readonly visitor: Visitor;
  readonly expiresAt: number;
  readonly end: VisitorEnd;
}

/** How often it looks, by itself, for what another process revoked and what has expired. */
const WATCH_MS = 100;

export class TokenStore implements Credentials {
  readonly #stateDir: string;
  readonly #now: () => number;
  readonly #file: TokenFile;
  readonly #use: TokenUse;
  #records: ReadonlyMap<string, TokenRecord> | undefined;
  #known: ReadonlyMap<string, Known> = new Map();
  readonly #onEnded: (visitor: Visitor) => void;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: TokenStoreOptions) {
    const { stateDir, now = Date.now, onWarning = () => {}, onEnded = () => {} } = options;
    try {
      makeDirectory(stateDir);
    } catch (error) {
      throw isDiskFault(error) ? cannotWrite(join(stateDir, 'tokens.json'), error) : error;
    }
    this.#stateDir = stateDir;
    this.#now = now;
    this.#file = new TokenFile({ stateDir, now, onWarning });
    this.#use = new TokenUse(stateDir, now);
    this.#onEnded = onEnded;
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
    if (known === undefined) return undefined;
    if (known.expiresAt <= now) {
      this.#end(known);
      return undefined;
    }
    this.#use.mark(hash, now);
    return known.visitor;
  }

  /** Who would come with the token of that name; undefined when there is none that is good. */
  named(name: string): Visitor | undefined {
    const now = this.#now();
    for (const { record, visitor, expiresAt } of this.#all(now, true).values())
      if (record.name === name && expiresAt > now) return visitor;
    return undefined;
  }

  /** From now on tokens end by themselves, also when nobody comes: until `close`. */
  watch(): void {
    this.#timer ??= setInterval(() => this.look(), WATCH_MS).unref();
  }

  /** Ends what another process revoked, or what has expired. */
  look(): void {
    const now = this.#now();
    for (const known of this.#all(now, true).values()) if (known.expiresAt <= now) this.#end(known);
  }

  /**
   * The token is told once, here. ARGUMENTS_INVALID, or NAME_TAKEN when there is one of that name. `confirm` throws where
   * who asks may not any more: others may have kept the file for a while.
   */
  async create(
    request: TokenRequest,
    confirm?: () => void,
  ): Promise<{ readonly token: string; readonly facts: TokenFacts }> {
    const { token, record } = this.#make(request);
    await this.#file.change((records) => {
      confirm?.();
      if (record.name !== OWNER && records.every(({ name }) => name !== record.name))
        return [...records, record];
      throw new TurnbuckleError('NAME_TAKEN', `There is a token "${record.name}" already.`, {
        hint: 'Choose another name, or revoke that one first.',
      });
    });
    return { token, facts: this.#factsOf(record) };
  }

  /** Good for nothing from now on, within a second in other processes; false when there is none of that name. The owner's is replaced. */
  async revoke(name: string, confirm?: () => void): Promise<boolean> {
    if (name === OWNER) {
      await this.#renewOwner(() => {
        confirm?.();
        return true;
      });
      this.look();
      return true;
    }
    let found = false;
    await this.#file.change((records) => {
      confirm?.();
      found = records.some((record) => record.name === name);
      return found ? records.filter((record) => record.name !== name) : records;
    });
    this.look();
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
    clearInterval(this.#timer);
    this.#use.write();
  }

  #all(now: number, isFresh = false): ReadonlyMap<string, Known> {
    const records = this.#file.records(now, isFresh);
    if (records !== this.#records) {
      this.#records = records;
      this.#take(records);
      this.#use.forget((hash) => records.has(hash));
    }
    return this.#known;
  }

  /** Who comes with an unchanged token is the same as before; what became of all others ends. */
  #take(records: ReadonlyMap<string, TokenRecord>): void {
    const before = this.#known;
    this.#known = new Map([...records].map(([hash, record]) => [hash, toKnown(record, before.get(hash))]));
    for (const [hash, known] of before) if (this.#known.get(hash) !== known) this.#end(known);
  }

  #end({ end, visitor }: Known): void {
    if (end.aborted) return;
    end.end();
    this.#onEnded(visitor);
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
      { error: describeIssue },
    );
    if (!checked.success)
      throw invalid(checked.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
    if (WORDS_OF_RULES.has(name))
      throw invalid([{ path: 'name', message: `rules mean something else by "${name}"` }]);
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

function toKnown(record: TokenRecord, before: Known | undefined): Known {
  if (before !== undefined && JSON.stringify(before.record) === JSON.stringify(record)) return before;
  const { name, can, access, expiresAt, root } = record;
  const ends = expiresAt === undefined ? undefined : Date.parse(expiresAt);
  const end = new VisitorEnd();
  const caller = { id: name, identity: identityOfToken(record), capabilities: can };
  return {
    record,
    visitor: {
      ...{ caller, access: new Set(access), expiresAt: ends, ended: end, root },
      isOwner: name === OWNER,
    },
    expiresAt: ends ?? Number.POSITIVE_INFINITY,
    end,
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
