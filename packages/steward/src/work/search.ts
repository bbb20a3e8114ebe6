/** Searches the configured registries. It proposes, and changes nothing. */
import type { RequestParams } from '../requests/request.js';
import type { Step } from '../workers/step.js';
import { toShownCandidate } from './candidates.js';
import { searchWithModel } from './search-with-model.js';
import type { WorkServices } from './services.js';

const DEFAULT_LIMIT = 10;

const search: Step<WorkServices> = {
  name: 'search',
  run: async ({ request, signal, progress, services: { registry, model } }) => {
    const { purpose, limit = DEFAULT_LIMIT } = request.params as RequestParams<'search_servers'>;
    progress(10, 'Reading the registries.');
    const options = { registry, model, limit, signal, progress };
    const { candidates, choices, modelFailure } = await searchWithModel(purpose, options);
    const shown = candidates.map((candidate) => {
      const choice = choices.get(candidate.record.name);
      return { ...toShownCandidate(candidate), ...(choice !== undefined && { modelReason: choice }) };
    });
    const failure = modelFailure === undefined ? {} : { modelFailure };
    return { done: { candidates: shown, sources: registry.status(), ...failure } };
  },
};

export const SEARCH_STEPS: ReadonlyArray<Step<WorkServices>> = [search];
