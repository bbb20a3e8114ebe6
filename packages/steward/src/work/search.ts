/** Searches the configured registries. It proposes, and changes nothing. */
import type { RequestParams } from '../requests/request.js';
import type { Step } from '../workers/step.js';
import { toShownCandidate } from './candidates.js';
import type { WorkServices } from './services.js';

const DEFAULT_LIMIT = 10;

const search: Step<WorkServices> = {
  name: 'search',
  run: async ({ request, signal, progress, services: { registry } }) => {
    const { purpose, limit = DEFAULT_LIMIT } = request.params as RequestParams<'search_servers'>;
    progress(10, 'Reading the registries.');
    const found = await registry.search(purpose, { limit, signal });
    return { done: { candidates: found.map(toShownCandidate), sources: registry.status() } };
  },
};

export const SEARCH_STEPS: ReadonlyArray<Step<WorkServices>> = [search];
