/** What a daemon says is wrong with its configuration, and what is in effect instead: nothing else would tell. */
import type { CommandContext } from '../command.js';
import { showLine } from '../untrusted-text.js';
import type { DaemonClient } from './daemon-client.js';

export interface Fault {
  readonly message: string;
  /** What holds instead, and what to do. */
  readonly hint?: string;
}

/** What `/api/config` answers, as far as it is used here. */
export interface SentConfig {
  readonly layers: ReadonlyArray<{ readonly file: string; readonly present: boolean }>;
  readonly problems: readonly Fault[];
  readonly servers: ReadonlyArray<{
    readonly name: string;
    readonly kept: boolean;
    readonly origin?: { readonly file: string };
    readonly problem?: Fault;
  }>;
}

const MAX_LINES = 3;
const USUAL_HINT = 'Correct the file: it is taken over by itself.';

/** A line each on stderr, and what is in effect instead. Nothing when nothing is wrong; never an error of its own. */
export async function tellProblems({ output }: CommandContext, client: DaemonClient): Promise<void> {
  const found = await readFaults(client);
  const shown = found.slice(0, MAX_LINES);
  const warning = output.color.yellow('warning');
  for (const { message } of shown) output.warn(`${warning} ${showLine(message, 400)}`);
  for (const hint of new Set(shown.map((one) => (typeof one.hint === 'string' ? one.hint : USUAL_HINT))))
    output.warn(`        ${showLine(hint, 400)}`);
  if (found.length > MAX_LINES) output.warn(`        ${found.length - MAX_LINES} more: turnbuckle config`);
}

/** Empty when the daemon said that nothing is wrong, or does not say what. */
export const readProblems = async (client: DaemonClient): Promise<string[]> =>
  (await readFaults(client)).map(({ message }) => message);

async function readFaults(client: DaemonClient): Promise<Fault[]> {
  if (!(client.problems > 0)) return [];
  try {
    return faultsOf(await client.get<SentConfig>('/api/config'));
  } catch {
    // What is wrong with the daemon itself is told by the work that it was asked for.
    return [];
  }
}

/** What is wrong with its files, and the servers that go on as they were. */
export function faultsOf({ problems, servers }: SentConfig): Fault[] {
  const kept = servers.flatMap(({ name, kept: isKept, problem }) =>
    isKept && problem ? [{ message: problem.message, hint: `${name} goes on as it was before.` }] : [],
  );
  return [...problems, ...kept].filter(({ message }) => typeof message === 'string');
}
