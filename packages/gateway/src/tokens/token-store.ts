/** The tokens of one state directory: created, listed, revoked, and looked up for requests. */
import { join } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { ACCESS, makeDirectory, monotonicNow } from 'turnbuckle/host';
import { describeIssue } from 'turnbuckle/issue-text';
import * as z from 'zod/mini';
import type { TokenAccess } from '../identity/access.js';
import type { Credentials, Identity, RefusedToken } from '../identity/identity.js';
import { IdentityEnd } from '../identity/identity-end.js';
import { OWNER } from '../identity/owner.js';
import { isFileSystemError } from '../instance/file-system-error.js';
import { readOwnerToken, writeOwnerToken } from './owner-token.js';
import { TokenFile, tokensNotWritable } from './token-file.js';
import { hashOf, identityOfToken, isOwnToken, makeToken, TokenRecord } from './token-record.js';
import { TokenUse } from './token-use.js';

export interface TokenStoreOptions {
  readonly stateDir: string;
  /** Replaces both clocks. Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** The file was accessible to others, or can no longer be read. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** A token was revoked or has expired, and all listeners for its end have run. */
  readonly onEnded?: ((identity: Identity) => void) | undefined;
}

export interface TokenRequest {
  readonly name: string;
  /** Capabilities, such as `mcp_github`; `mcp_integration` for all. */
  readonly can: readonly string[];
  readonly access: readonly TokenAccess[];
  readonly expiresAt?: Date | undefined;
  /** The root of the token that creates it; absent: the owner creates it. */
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
  /** The root: the token that created it, or that one's root; absent: the owner created it. */
  readonly root?: string | undefined;
}

/** Names that mean something other than one agent in a rule. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(['host', 'agents']);

interface KnownToken {
  readonly record: TokenRecord;
  readonly identity: Identity;
  readonly expiresAt: number;
  readonly end: IdentityEnd;
}

/** How often it checks for tokens that another process revoked or that have expired. */
const WATCH_MS = 100;
/** How many revoked tokens it remembers, to tell them from unknown ones. */
const MAX_REVOKED = 1_000;

export class TokenStore implements Credentials {
  readonly #stateDir: string;
  readonly #now: () => number;
  readonly #file: TokenFile;
  readonly #use: TokenUse;
  #records: ReadonlyMap<string, TokenRecord> | undefined;
  #known: ReadonlyMap<string, KnownToken> = new Map();
  /** The names of revoked tokens by hash, the oldest first. */
  readonly #revoked = new Map<string, string>();
  readonly #onEnded: (identity: Identity) => void;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: TokenStoreOptions) {
    const { stateDir, now = Date.now, onWarning = () => {}, onEnded = () => {} } = options;
    try {
      makeDirectory(stateDir);
    } catch (error) {
      throw isFileSystemError(error) ? tokensNotWritable(join(stateDir, 'tokens.json'), error) : error;
    }
    this.#stateDir = stateDir;
    this.#now = now;
    this.#file = new TokenFile({ stateDir, now, onWarning });
    this.#use = new TokenUse(stateDir, options.now ?? monotonicNow);
    this.#onEnded = onEnded;
  }

  /** Creates the owner's token if there is none. SECRETS_UNAVAILABLE if the file is damaged or belongs to another user. */
  static async open(options: TokenStoreOptions): Promise<TokenStore> {
    const store = new TokenStore(options);
    if (!store.#hasOwner(store.#file.records())) await store.#renewOwner((hash) => !store.#isOwnerHash(hash));
    return store;
  }

  find(token: string): Identity | undefined {
    if (!isOwnToken(token)) return undefined;
    const hash = hashOf(token);
    const now = this.#now();
    // An unknown token may have been created a moment ago by another process.
    const known = this.#all(now).get(hash) ?? this.#all(now, true).get(hash);
    if (known === undefined) return undefined;
    if (known.expiresAt <= now) {
      this.#end(known);
      return undefined;
    }
    this.#use.mark(hash, now);
    return known.identity;
  }

  whyRefused(token: string): RefusedToken {
    if (!isOwnToken(token)) return { reason: 'unknown' };
    const hash = hashOf(token);
    const known = this.#known.get(hash);
    if (known !== undefined) return { reason: 'expired', name: known.record.name };
    const name = this.#revoked.get(hash);
    return name === undefined ? { reason: 'unknown' } : { reason: 'revoked', name };
  }

  /** The identity of the token of that name; undefined if there is no valid one. */
  findByName(name: string): Identity | undefined {
    const now = this.#now();
    for (const { record, identity, expiresAt } of this.#all(now, true).values())
      if (record.name === name && expiresAt > now) return identity;
    return undefined;
  }

  /** From now on tokens end on time even without requests, until `close`. */
  watch(): void {
    this.#timer ??= setInterval(() => this.endExpired(), WATCH_MS).unref();
  }

  /** Ends tokens that another process revoked or that have expired. */
  endExpired(): void {
    const now = this.#now();
    for (const known of this.#all(now, true).values()) if (known.expiresAt <= now) this.#end(known);
  }

  /**
   * The token is returned only here. ARGUMENTS_INVALID, or NAME_TAKEN if the name exists. `confirm` throws if the request
   * is no longer allowed: other processes may have held the file for a while.
   */
  async create(
    request: TokenRequest,
    confirm?: () => void,
  ): Promise<{ readonly token: string; readonly facts: TokenFacts }> {
    const { token, record } = this.#createRecord(request);
    await this.#file.change((records) => {
      confirm?.();
      if (record.name !== OWNER && records.every(({ name }) => name !== record.name))
        return [...records, record];
      throw new TurnbuckleError('NAME_TAKEN', `Token "${record.name}" already exists.`, {
        hint: 'Choose another name, or revoke the existing token first.',
      });
    });
    return { token, facts: this.#factsOf(record) };
  }

  /** Invalid from now on, within a second in other processes; false if there is no such name. The owner's is replaced. */
  async revoke(name: string, confirm?: () => void): Promise<boolean> {
    if (name === OWNER) {
      await this.#renewOwner(() => {
        confirm?.();
        return true;
      });
      this.endExpired();
      return true;
    }
    let found = false;
    await this.#file.change((records) => {
      confirm?.();
      found = records.some((record) => record.name === name);
      return found ? records.filter((record) => record.name !== name) : records;
    });
    this.endExpired();
    return found;
  }

  /** By name, including expired ones. */
  list(): TokenFacts[] {
    return [...this.#file.records().values()]
      .map((record) => this.#factsOf(record))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Stores when tokens were last used. */
  close(): void {
    clearInterval(this.#timer);
    this.#use.write();
  }

  #all(now: number, isFresh = false): ReadonlyMap<string, KnownToken> {
    const records = this.#file.records(now, isFresh);
    if (records !== this.#records) {
      this.#records = records;
      this.#update(records);
      this.#use.forget((hash) => records.has(hash));
    }
    return this.#known;
  }

  /** An unchanged token keeps its identity; the identities of all others end. */
  #update(records: ReadonlyMap<string, TokenRecord>): void {
    const before = this.#known;
    this.#known = new Map(
      [...records].map(([hash, record]) => [hash, toKnownToken(record, before.get(hash))]),
    );
    for (const [hash, known] of before) {
      if (this.#known.get(hash) !== known) this.#end(known);
      // With an unreadable file all tokens are gone, and none was revoked.
      if (records.size > 0 && !records.has(hash)) this.#rememberRevoked(hash, known.record.name);
    }
  }

  #rememberRevoked(hash: string, name: string): void {
    const [oldest] = this.#revoked.keys();
    if (this.#revoked.size >= MAX_REVOKED && oldest !== undefined) this.#revoked.delete(oldest);
    this.#revoked.set(hash, name);
  }

  #end({ end, identity }: KnownToken): void {
    if (end.aborted) return;
    end.end();
    this.#onEnded(identity);
  }

  #createRecord({ name, can, access, expiresAt, root }: TokenRequest): {
    token: string;
    record: TokenRecord;
  } {
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
    if (RESERVED_NAMES.has(name)) throw invalid([{ path: 'name', message: `"${name}" is a reserved name` }]);
    if (expiresAt !== undefined && expiresAt.getTime() <= now)
      throw invalid([{ path: 'expiresAt', message: 'must be in the future' }]);
    return { token, record: checked.data };
  }

  #hasOwner(records: ReadonlyMap<string, TokenRecord>): boolean {
    const token = readOwnerToken(this.#stateDir);
    return token !== undefined && records.get(hashOf(token))?.name === OWNER;
  }

  #isOwnerHash(hash: string): boolean {
    const token = readOwnerToken(this.#stateDir);
    return token !== undefined && hashOf(token) === hash;
  }

  /** Unless the current one, perhaps created by another process, is valid. */
  #renewOwner(isBad: (hash: string) => boolean): Promise<void> {
    return this.#file.change((records) => {
      const old = records.find(({ name }) => name === OWNER);
      if (old !== undefined && !isBad(old.hash)) return records;
      const { token, record } = this.#createRecord({ name: OWNER, can: ['mcp_integration'], access: ACCESS });
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

function toKnownToken(record: TokenRecord, before: KnownToken | undefined): KnownToken {
  if (before !== undefined && JSON.stringify(before.record) === JSON.stringify(record)) return before;
  const { name, can, access, expiresAt, root } = record;
  const ends = expiresAt === undefined ? undefined : Date.parse(expiresAt);
  const end = new IdentityEnd();
  const caller = { id: name, identity: identityOfToken(record), capabilities: can };
  return {
    record,
    identity: {
      ...{ caller, access: new Set(access), expiresAt: ends, ended: end, root },
      isOwner: name === OWNER,
    },
    expiresAt: ends ?? Number.POSITIVE_INFINITY,
    end,
  };
}

const isoOf = (date: Date): string => (Number.isNaN(date.getTime()) ? 'invalid time' : date.toISOString());

function invalid(faults: ReadonlyArray<{ path: string; message: string }>): TurnbuckleError {
  const list = faults.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new TurnbuckleError('ARGUMENTS_INVALID', `Cannot create the token: ${list}.`, {
    hint: 'Correct these keys.',
    data: { faults },
  });
}
