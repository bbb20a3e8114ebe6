/** Warnings about the configuration of a running daemon, and what is in effect instead. */
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { DaemonClient } from './daemon-client.js';

export interface ConfigProblem {
  readonly message: string;
  /** What holds instead, and what to do. */
  readonly hint?: string;
}

/** What `/api/config` answers, as far as it is used here. */
export interface ConfigResponse {
  readonly layers: ReadonlyArray<{ readonly file: string; readonly present: boolean }>;
  readonly problems: readonly ConfigProblem[];
  readonly servers: ReadonlyArray<{
    readonly name: string;
    readonly kept: boolean;
    readonly origin?: { readonly file: string };
    readonly problem?: ConfigProblem;
  }>;
}

const MAX_PROBLEM_LINES = 3;
const DEFAULT_HINT = 'Fix the file; the daemon reloads it automatically.';

/** Prints one line each to stderr. Never throws. */
export async function warnOfDaemonProblems({ output }: CommandContext, client: DaemonClient): Promise<void> {
  const found = await readConfigProblems(client);
  const shown = found.slice(0, MAX_PROBLEM_LINES);
  const warning = output.color.yellow('warning');
  for (const { message } of shown) output.warn(`${warning} ${showLine(message, 400)}`);
  for (const hint of new Set(shown.map((one) => (typeof one.hint === 'string' ? one.hint : DEFAULT_HINT))))
    output.warn(`        ${showLine(hint, 400)}`);
  if (found.length > MAX_PROBLEM_LINES)
    output.warn(`        and ${found.length - MAX_PROBLEM_LINES} more. Show all: turnbuckle config`);
}

/** Empty when the daemon reports no problems, or no details. */
export const readProblemMessages = async (client: DaemonClient): Promise<string[]> =>
  (await readConfigProblems(client)).map(({ message }) => message);

async function readConfigProblems(client: DaemonClient): Promise<ConfigProblem[]> {
  if (!(client.problemCount > 0)) return [];
  try {
    return problemsOf(await client.get<ConfigResponse>('/api/config'));
  } catch {
    // The request that the command makes reports problems of the daemon itself.
    return [];
  }
}

/** What is wrong with its files, and the servers that go on as they were. */
export function problemsOf({ problems, servers }: ConfigResponse): ConfigProblem[] {
  const kept = servers.flatMap(({ name, kept: isKept, problem }) =>
    isKept && problem
      ? [{ message: problem.message, hint: `Server "${name}" keeps its previous configuration.` }]
      : [],
  );
  return [...problems, ...kept].filter(({ message }) => typeof message === 'string');
}
