/**
 * What the calls of a run carried: text of strangers, private data, a way out. One agent that has all three can
 * be made by a stranger to hand the private data over, so the call that would complete them is held back.
 */
import type { FlowMode } from '../config/rule-schema.js';
import type { Label } from '../config/schema.js';
import { showLine } from '../text/hidden.js';
import { type Caller, identityOf } from './capabilities.js';
import type { FlowFault } from './decide.js';
import type { RuleSubject } from './rules.js';

/** Beyond so many, the run that was idle for longest is forgotten. */
const MOST_RUNS = 10_000;

type LabelsOf = (subject: RuleSubject) => readonly Label[];

/** Which call brought each label into its run first. */
export class FlowRuns {
  /** Another one after each call that brought something new into its run. */
  version = 0;
  readonly #runs = new Map<string, Map<Label, string>>();

  of(caller: Caller): ReadonlyMap<Label, string> | undefined {
    return this.#runs.get(keyOf(caller));
  }

  note(caller: Caller, labels: readonly Label[], call: string): void {
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
    if (this.#runs.size > MOST_RUNS && oldest !== undefined) this.#runs.delete(oldest);
  }
}

export class Flows {
  /** What becomes of such a call. */
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

  /** What holds the call back; undefined when it completes nothing. */
  faultOf(caller: Caller, subject: RuleSubject): FlowFault | undefined {
    if (this.mode === 'off') return undefined;
    const labels = this.#labelsOf(subject);
    if (!labels.includes('outbound') && !labels.includes('destructive')) return undefined;
    const before = this.#runs.of(caller);
    const bringerOf = (label: Label): string | undefined =>
      before?.get(label) ?? (labels.includes(label) ? 'this call' : undefined);
    const [secret, stranger] = [bringerOf('private'), bringerOf('untrusted')];
    if (secret === undefined || stranger === undefined) return undefined;
    const reason = `this run read private data (${secret}) and text of strangers (${stranger})`;
    return { action: this.mode, reason };
  }

  /** The call was let through: what it carries is in its run from now on. */
  note(caller: Caller, subject: RuleSubject): void {
    const labels = this.#labelsOf(subject);
    if (labels.length === 0) return;
    this.#runs.note(caller, labels, showLine(`${subject.server}.${subject.tool}`, 80));
  }
}

const keyOf = (caller: Caller): string => JSON.stringify([identityOf(caller), caller.run ?? null]);
