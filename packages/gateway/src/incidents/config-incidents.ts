/** Reports each problem of the config files once, its end, and every time the files were read again. */
import type { TurnbuckleError } from 'turnbuckle';
import type { LoadedConfig, Reload } from 'turnbuckle/host';
import type { Report } from './incident.js';
import { withCommand } from './next-step.js';
import { problemKey } from './problem-key.js';

const NEXT = 'Check the configuration: turnbuckle doctor';

export class ConfigIncidents {
  readonly #report: Report;
  /** The reported problems, by what makes them the same. */
  #known: ReadonlyMap<string, TurnbuckleError> = new Map();

  constructor(report: Report) {
    this.#report = report;
  }

  /** Reports the problems that were not there before, and those that are solved. */
  check({ problems, layers }: Pick<LoadedConfig, 'problems' | 'layers'>): void {
    const before = this.#known;
    const current = new Map(problems.map((problem) => [problemKey(problem.message), problem]));
    // As long as a file is unusable, its previous content is in effect, with its problems.
    const unusable = new Set<unknown>(layers.flatMap((one) => (one.unusable ? [one.layer.file] : [])));
    const ended = [...before].filter(([key]) => !current.has(key));
    const isHidden = ([, { data }]: [string, TurnbuckleError]): boolean => unusable.has(data?.file);
    this.#known = new Map([...current, ...ended.filter(isHidden)]);
    for (const [key, { code, message, hint }] of current)
      if (!before.has(key))
        this.#report({
          level: 'warn',
          kind: 'config-problem',
          code,
          text: message,
          next: withCommand(hint, NEXT),
        });
    for (const one of ended)
      if (!isHidden(one))
        this.#report({
          level: 'info',
          kind: 'config-solved',
          text: `Configuration problem resolved: ${one[1].message}`,
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
      text: `Configuration reloaded. Servers: ${servers}.${problems}`,
      next: count === 0 ? undefined : NEXT,
    });
  }
}
