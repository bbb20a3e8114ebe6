import { join } from 'node:path';
import type { ShownCandidate, SourceStatus } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import { createGuardedFetch } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { showCandidates } from '../steward/candidate-lines.js';
import { showMessage } from '../terminal/untrusted-text.js';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  requirePositional(context, 0, 'purpose');
  const purpose = positionals.join(' ');
  const limit = limitOf(context);
  const { candidates, sources } = await search(context, purpose, limit);
  if (output.json) output.data({ candidates, sources });
  for (const { note } of sources)
    if (note !== undefined) output.warn(`${output.color.yellow('warning')} ${showMessage(note)}`);
  if (output.json) return;
  const [best] = candidates;
  if (best === undefined) {
    const count = sources.reduce((sum, { records }) => sum + records, 0);
    return output.note(`No matching servers (${count} searched). Describe what you need in other words.`);
  }
  showCandidates(candidates, output);
  output.note(output.color.dim(`Add the best match: turnbuckle add ${shellQuote(best.name)}`));
}

interface Found {
  readonly candidates: readonly ShownCandidate[];
  readonly sources: readonly SourceStatus[];
}

async function search(context: CommandContext, purpose: string, limit: number): Promise<Found> {
  const { output, signal, environment } = context;
  const [config, steward] = await Promise.all([loadCommandConfig(context), import('@turnbuckle/steward')]);
  const sources = steward.configuredSources(config, environment);
  const registry = steward.createRegistry({
    sources,
    fetch: createGuardedFetch(steward.registryFetchOptions(sources)),
    cacheDir: join(stateDirectoryOf(context), 'registry-cache'),
    now: Date.now,
  });
  const names = sources.length === 1 ? 'the registry' : `${sources.length} registries`;
  const found = await output.withSpinner(`Reading ${names}`, registry.search(purpose, { limit, signal }));
  return { candidates: found.map(steward.toShownCandidate), sources: registry.status() };
}

function limitOf({ flags }: CommandContext): number {
  const limit = Number(flags.limit ?? DEFAULT_LIMIT);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Invalid --limit "${String(flags.limit)}": expected a number from 1 to ${MAX_LIMIT}.`,
    { hint: 'For example --limit 20' },
  );
}
