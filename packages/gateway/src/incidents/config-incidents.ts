/** Reports each problem of the config files once, and every time the files were read again. */
import type { LoadedConfig, Reload } from 'turnbuckle/host';
import type { Report } from './incident.js';
import { withCommand } from './next-step.js';
import { problemKey } from './problem-key.js';

const NEXT = 'Check the configuration: turnbuckle doctor';

export class ConfigIncidents {
  readonly #report: Report;
  #known: ReadonlySet<string> = new Set();

  constructor(report: Report) {
    this.#report = report;
  }

  /** Reports the problems that were not there before. */
  check({ problems }: Pick<LoadedConfig, 'problems'>): void {
    const before = this.#known;
    this.#known = new Set(problems.map(({ message }) => problemKey(message)));
    for (const { code, message, hint } of problems)
      if (!before.has(problemKey(message)))
        this.#report({
          level: 'warn',
          kind: 'config-problem',
          code,
          text: message,
          next: withCommand(hint, NEXT),
        });
  }

  /** The files were read again, and are in effect. */
  reloaded({ added, removed, changed, config }: Reload): void {
    this.check(config);
    const counts = Object.entries({ added, removed, changed }).filter(([, names]) => names.length > 0);
    const servers = counts.map(([word, names]) => `${names.length} ${word}`).join(', ') || 'unchanged';
    const count = config.problems.length;
    const problems = count === 0 ? '' : ` Problems: ${count}.`;
    this.#report({
      level: 'info',
      kind: 'config-reloaded',
      text: `The configuration was read again. Servers: ${servers}.${problems}`,
      next: count === 0 ? undefined : NEXT,
    });
  }
}
