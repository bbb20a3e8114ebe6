/**
 * Tracks what the calls of a run carried: untrusted text, private data, outbound data. Untrusted text can make an
 * agent with all three send the private data away, so the call that would complete the combination is held back.
 */
import type { FlowMode } from '../config/schema/rule-schema.js';
import type { Label } from '../config/schema/schema.js';
import { showLine } from '../text/hidden-text.js';
import { type Caller, identityOf } from './capabilities.js';
import type { FlowFault } from './decide.js';
import type { RuleSubject } from './rules.js';

/** Beyond this number, the run that was idle for longest is forgotten. */
const MAX_RUNS = 10_000;

type LabelsOf = (subject: RuleSubject) => readonly Label[];

/** Which call brought each label into its run first. */
export class FlowRuns {
  /** Changes after each call that brought a new label into its run. */
  version = 0;
  readonly #runs = new Map<string, Map<Label, string>>();

  labelsOf(caller: Caller): ReadonlyMap<Label, string> | undefined {
    return this.#runs.get(keyOf(caller));
  }

  record(caller: Caller, labels: readonly Label[], call: string): void {
    const key = keyOf(caller);
    const run = this.#runs.get(key) ?? new Map<Label, string>();
    for (const label of labels) {
      if (run.has(label)) continue;
      run.set(label, call);
      this.version += 1;
    }
    this.#runs.delete(key);
    this.#runs.set(key, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > MAX_RUNS && oldest !== undefined) this.#runs.delete(oldest);
  }
}

export class Flows {
  /** What to do with a call that completes a flow. */
  mode: FlowMode;
  readonly #labelsOf: LabelsOf;
  readonly #runs: FlowRuns;

  constructor(mode: FlowMode, labelsOf: LabelsOf, runs = new FlowRuns()) {
    this.mode = mode;
    this.#labelsOf = labelsOf;
    this.#runs = runs;
  }

  get version(): number {
    return this.#runs.version;
  }

  /** Why the call is held back; undefined if it does not complete a flow. */
  faultOf(caller: Caller, subject: RuleSubject): FlowFault | undefined {
    if (this.mode === 'off') return undefined;
    const labels = this.#labelsOf(subject);
    if (!labels.includes('outbound') && !labels.includes('destructive')) return undefined;
    const before = this.#runs.labelsOf(caller);
    const bringerOf = (label: Label): string | undefined =>
      before?.get(label) ?? (labels.includes(label) ? 'this call' : undefined);
    const [secret, stranger] = [bringerOf('private'), bringerOf('untrusted')];
    if (secret === undefined || stranger === undefined) return undefined;
    const reason = `this run has read private data (${secret}) and untrusted text (${stranger}), so the call could leak the data or cause damage`;
    return { action: this.mode, reason };
  }

  /** Adds the labels of an allowed call to its run. */
  record(caller: Caller, subject: RuleSubject): void {
    const labels = this.#labelsOf(subject);
    if (labels.length === 0) return;
    this.#runs.record(caller, labels, showLine(`${subject.server}.${subject.tool}`, 80));
  }
}

const keyOf = (caller: Caller): string => JSON.stringify([identityOf(caller), caller.run ?? null]);
