/**
 * The operator's log: what the owner of the daemon has to know. Each incident is redacted, bounded and written as one
 * line of JSON, and kept in the store. One source cannot fill it: beyond a rate its incidents are only counted.
 */
import type { CallLog, IncidentRecord } from '@turnbuckle/store';
import type { Logger } from 'pino';
import type { LogLevel } from 'turnbuckle/host';
import { monotonicNow, showLine } from 'turnbuckle/host';
import { RateLimit } from '../http/limits/rate-limit.js';
import { redactText } from '../log/redact-text.js';
import type { Incident, Report } from './incident.js';

/** Where the lines go. */
export interface LogOutput {
  /** Overrides the level of the configuration. */
  readonly level?: LogLevel | undefined;
  /** Takes one line of JSON, with its line break. */
  readonly write: (line: string) => void;
}

export interface OperatorLogOptions {
  readonly output: LogOutput | undefined;
  readonly level: LogLevel | undefined;
  readonly redact: (value: unknown) => unknown;
  /** For timestamps. */
  readonly now?: (() => number) | undefined;
  /** For rates. */
  readonly monotonicNow?: (() => number) | undefined;
}

const DEFAULT_LEVEL: LogLevel = 'info';
const MAX_TEXT_CHARACTERS = 1_000;
const MAX_SERVER_CHARACTERS = 256;
/** For each kind of incident of each server: a server that fails and recovers all the time is told of once a minute. */
const RATE = { perSecond: 1 / 60, burst: 20 };
const COUNT_MS = 60_000;

export class OperatorLog {
  readonly #options: OperatorLogOptions;
  readonly #logger: Logger | undefined;
  readonly #now: () => number;
  readonly #rate: RateLimit;
  /** What was not reported, by source, with the last one. */
  readonly #suppressed = new Map<string, { count: number; last: Incident }>();
  #store: Pick<CallLog, 'recordIncident'> | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: OperatorLogOptions, logger: Logger | undefined) {
    this.#options = options;
    this.#logger = logger;
    this.#now = options.now ?? Date.now;
    this.#rate = new RateLimit(RATE, options.monotonicNow ?? monotonicNow);
  }

  /** Without an output, incidents are only kept in the store. */
  static async open(options: OperatorLogOptions): Promise<OperatorLog> {
    const { output, now = Date.now } = options;
    if (output === undefined) return new OperatorLog(options, undefined);
    const { pino } = await import('pino');
    const logger = pino(
      {
        level: output.level ?? options.level ?? DEFAULT_LEVEL,
        base: null,
        messageKey: 'text',
        timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
        formatters: { level: (level) => ({ level }) },
      },
      { write: output.write },
    );
    return new OperatorLog(options, logger);
  }

  /** From now on, incidents are kept there as well. */
  keepIn(store: Pick<CallLog, 'recordIncident'> | undefined): void {
    this.#store = store;
  }

  /** The level of the configuration; one that was given for this run overrides it. */
  setLevel(level: LogLevel | undefined): void {
    const { output } = this.#options;
    if (this.#logger !== undefined) this.#logger.level = output?.level ?? level ?? DEFAULT_LEVEL;
  }

  /** Never throws. */
  readonly report: Report = (incident) => {
    const source = `${incident.kind} ${incident.server ?? ''}`;
    if (this.#rate.take(source) > 0) return this.#suppress(source, incident);
    this.#reportSuppressed(source);
    this.#write(incident);
  };

  /** A detail for whoever looks for the cause of an incident: written at the level `debug` only, and not kept. */
  debug(server: string, text: string): void {
    if (this.#logger?.isLevelEnabled('debug') !== true) return;
    if (this.#rate.take(`debug ${server}`) > 0) return;
    this.#logger.debug({ server: showLine(server, MAX_SERVER_CHARACTERS) }, this.#clean(text));
  }

  /** Reports what was counted. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const source of [...this.#suppressed.keys()]) this.#reportSuppressed(source);
  }

  #suppress(source: string, last: Incident): void {
    const { count = 0 } = this.#suppressed.get(source) ?? {};
    this.#suppressed.set(source, { count: count + 1, last });
    this.#timer ??= setTimeout(() => this.close(), COUNT_MS).unref();
  }

  #reportSuppressed(source: string): void {
    const suppressed = this.#suppressed.get(source);
    if (suppressed === undefined) return;
    this.#suppressed.delete(source);
    const { count, last } = suppressed;
    const whose =
      last.server === undefined ? '' : ` for server "${showLine(last.server, MAX_SERVER_CHARACTERS)}"`;
    this.#write({
      level: 'warn',
      kind: 'suppressed',
      server: last.server,
      text: `Suppressed ${count} more "${last.kind}" ${count === 1 ? 'incident' : 'incidents'}${whose} because there were too many. The latest: ${last.text}`,
      next: 'See the current state: turnbuckle list',
    });
  }

  #write(incident: Incident): void {
    const { level, kind, server, code, next } = incident;
    const text = this.#clean(incident.text);
    const step = next === undefined ? undefined : this.#clean(next);
    const name = server?.slice(0, MAX_SERVER_CHARACTERS);
    this.#logger?.[level]({ kind, server: name, code, next: step }, text);
    const record: IncidentRecord = { at: this.#now(), level, kind, server: name, code, text, next: step };
    this.#store?.recordIncident(record);
  }

  /** One line without secrets and control characters. */
  #clean(text: string): string {
    const { redact } = this.#options;
    return showLine(redactText(text, { limit: MAX_TEXT_CHARACTERS, redact }), MAX_TEXT_CHARACTERS);
  }
}
