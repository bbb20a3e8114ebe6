/** What a daemon says is wrong with its configuration: it goes on with what it had, so nothing else would tell. */
import type { CommandContext } from '../command.js';
import { showLine } from '../untrusted-text.js';
import type { DaemonClient } from './daemon-client.js';

interface Problem {
  readonly message: string;
}

interface SentConfig {
  readonly problems: readonly Problem[];
  readonly servers: ReadonlyArray<{ readonly kept: boolean; readonly problem?: Problem }>;
}

const MAX_LINES = 3;

/** A line each on stderr. Nothing when nothing is wrong; never an error of its own. */
export async function tellProblems({ output }: CommandContext, client: DaemonClient): Promise<void> {
  const problems = await readProblems(client);
  const warning = output.color.yellow('warning');
  for (const problem of problems.slice(0, MAX_LINES)) output.warn(`${warning} ${showLine(problem, 400)}`);
  if (problems.length === 0) return;
  const rest = problems.length - MAX_LINES;
  const more = rest > 0 ? `${rest} more: turnbuckle config. ` : '';
  output.warn(
    `        ${more}The daemon goes on with what it had. Correct the file: it takes it over by itself.`,
  );
}

/** Empty when the daemon said that nothing is wrong, or does not say what. */
export async function readProblems(client: DaemonClient): Promise<string[]> {
  if (!(client.problems > 0)) return [];
  const { problems, servers } = await client
    .get<SentConfig>('/api/config')
    .catch((): SentConfig => ({ problems: [], servers: [] }));
  const kept = servers.flatMap((server) => (server.kept && server.problem ? [server.problem] : []));
  return [...problems, ...kept].map(({ message }) => message);
}
