/**
 * Turns what happens to servers into incidents: each is reported once, when it starts. Further failures until the
 * server is connected again belong to the same incident.
 */
import type { IncidentKind } from '@turnbuckle/store';
import type { TurnbuckleError } from 'turnbuckle';
import { showLine } from 'turnbuckle/host';
import type { Report } from './incident.js';
import { nextStep, toShellWord } from './next-step.js';
import { problemKey } from './problem-key.js';

export interface ServerIncidentsOptions {
  readonly report: Report;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** The open incident of a server, until it is connected again. */
interface OpenIncident {
  readonly since: number;
  /** What was reported of it. */
  readonly reported: Set<string>;
}

/** What was wrong with a server when it was removed. */
interface RemovedServer {
  readonly open: OpenIncident | undefined;
  readonly invalidEntry: string | undefined;
}

export interface ToolChanges {
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Those of them that need approval now. */
  readonly unapproved: readonly string[];
}

const KINDS: Readonly<Record<string, IncidentKind>> = {
  AUTH_REQUIRED: 'sign-in-needed',
  SANDBOX_UNAVAILABLE: 'sandbox-missing',
  SERVER_FLOODED: 'server-flooded',
  CONFIG_INVALID: 'entry-invalid',
  VARIABLE_MISSING: 'entry-invalid',
  TRUST_REQUIRED: 'entry-invalid',
  SERVER_LIMIT: 'entry-invalid',
};
/** These wait for a decision of the owner: nothing is broken. */
const WAITING_CODES: ReadonlySet<string> = new Set(['AUTH_REQUIRED', 'TRUST_REQUIRED']);
const MAX_NAMES_SHOWN = 5;
const MAX_NAME_CHARACTERS = 60;

export class ServerIncidents {
  readonly #options: ServerIncidentsOptions;
  readonly #open = new Map<string, OpenIncident>();
  /** Running servers whose new entry is invalid. */
  readonly #invalidEntries = new Map<string, string>();
  readonly #disabled = new Set<string>();
  /** Open incidents of servers that were removed: an edit removes a server and adds it again. */
  readonly #removed = new Map<string, RemovedServer>();

  constructor(options: ServerIncidentsOptions) {
    this.#options = options;
  }

  /** The server cannot be used, for whatever reason. */
  failed(server: string, error: TurnbuckleError): void {
    if (this.#disabled.has(server)) return;
    const { report, now } = this.#options;
    const kind = KINDS[error.code] ?? 'server-failed';
    const open = this.#open.get(server) ?? { since: now(), reported: new Set<string>() };
    this.#open.set(server, open);
    // An edit can replace one problem of an entry by another.
    const key = kind === 'entry-invalid' ? `${kind} ${problemKey(error.message)}` : kind;
    if (open.reported.has(key)) return;
    open.reported.add(key);
    // A hint that quotes the server is no next step: the server could write one of its own.
    const { code, message, hint, data } = error;
    const isQuote = typeof data?.stderr === 'string' && data.stderr !== '';
    report({
      level: WAITING_CODES.has(code) ? 'warn' : 'error',
      kind,
      server,
      code,
      text: isQuote ? `${message} ${hint ?? ''}` : message,
      next: nextStep(kind, server, isQuote ? undefined : hint),
    });
  }

  /** The server is connected: its incident is over. */
  connected(server: string): void {
    const open = this.#open.get(server);
    if (open === undefined) return;
    const { report, now } = this.#options;
    this.#open.delete(server);
    const seconds = Math.max(Math.round((now() - open.since) / 1_000), 0);
    const text = `Server ${quote(server)} is connected again after failing for ${seconds} s.`;
    report({ level: 'info', kind: 'server-recovered', server, text });
  }

  /** The entry of a running server became invalid, or is valid again. */
  entryChecked(server: string, problem: TurnbuckleError | undefined): void {
    const { report } = this.#options;
    const known = this.#invalidEntries.get(server);
    const isUnused = problem === undefined && known === undefined && this.#hasOnlyInvalidEntry(server);
    if (!isUnused && known === (problem && problemKey(problem.message))) return;
    if (problem === undefined) {
      this.#invalidEntries.delete(server);
      const text = `The configuration for server ${quote(server)} is valid again.`;
      if (isUnused) this.#open.delete(server);
      return report({ level: 'info', kind: 'entry-valid', server, text });
    }
    this.#invalidEntries.set(server, problemKey(problem.message));
    report({
      level: 'warn',
      kind: 'entry-invalid',
      server,
      code: problem.code,
      text: `${problem.message} Server ${quote(server)} keeps its previous configuration.`,
      next: nextStep('entry-invalid', server, problem.hint),
    });
  }

  toolsChanged({ server, added, removed, changed, unapproved }: ToolChanges): void {
    const parts = Object.entries({ added, removed, changed }).filter(([, names]) => names.length > 0);
    if (parts.length === 0 && unapproved.length === 0) return;
    const changes = parts.map(([word, names]) => `${word} ${listNames(names)}`).join('; ');
    const said = changes === '' ? '' : `Server ${quote(server)} changed its tools: ${changes}.`;
    const word = toShellWord(server);
    const isPinned = unapproved.length > 0;
    const pinned = isPinned
      ? ` These tools on server ${quote(server)} need your approval because they are new or have changed since you approved them: ${listNames(unapproved)}.`
      : '';
    this.#options.report({
      level: isPinned ? 'warn' : 'info',
      kind: 'tools-changed',
      server,
      text: `${said}${pinned}`.trim(),
      next: isPinned
        ? `Review the changes (turnbuckle rules pins --connect), then approve them: turnbuckle rules pin ${word}`
        : `List its tools: turnbuckle tools ${word}`,
    });
  }

  /** A disabled server has no incidents. */
  toggled(server: string, enabled: boolean): void {
    if (enabled) this.#disabled.delete(server);
    else this.#disabled.add(server);
    this.#open.delete(server);
  }

  /** Removed, or replaced: what happens to it from now on is new. */
  removed(server: string): void {
    const open = this.#open.get(server);
    const invalidEntry = this.#invalidEntries.get(server);
    this.#removed.set(server, { open, invalidEntry });
    this.#open.delete(server);
    this.#invalidEntries.delete(server);
    this.#disabled.delete(server);
  }

  /** Added. If it replaces a server that failed, its failure lasts until it is connected. */
  added(server: string): void {
    const { open, invalidEntry } = this.#removed.get(server) ?? {};
    this.#removed.delete(server);
    if (open !== undefined) this.#open.set(server, { since: open.since, reported: new Set() });
    if (invalidEntry !== undefined) this.#invalidEntries.set(server, invalidEntry);
  }

  /** Forgets all other servers. */
  keepOnly(servers: ReadonlySet<string>): void {
    for (const known of [this.#open, this.#invalidEntries, this.#disabled])
      for (const server of known.keys()) if (!servers.has(server)) this.removed(server);
    this.#removed.clear();
  }

  /** It was never started: nothing but its entry is known to be wrong. */
  #hasOnlyInvalidEntry(server: string): boolean {
    const reported = [...(this.#open.get(server)?.reported ?? [])];
    return reported.length > 0 && reported.every((key) => key.startsWith('entry-invalid '));
  }
}

const quote = (name: string): string => `"${showLine(name, MAX_NAME_CHARACTERS)}"`;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES_SHOWN).map(quote).join(', ');
  const more = names.length - MAX_NAMES_SHOWN;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
