/**
 * A search that a model plans and judges. The model can do two things: search the configured registries, and put what was
 * found in order. It cannot install or configure anything, and a person still decides. Without a model, and where it fails,
 * the ranking decides alone.
 */
import {
  type ChatMessage,
  type ChatModel,
  DATA_RULE,
  markData,
  type OfferedTool,
  type ToolCall,
} from '@turnbuckle/model';
import { TurnbuckleError } from 'turnbuckle';
import { showLine } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { Candidate } from '../registry/ranking.js';
import type { Registry } from '../registry/registry.js';
import { toShownCandidate } from './candidates.js';

export interface ModelSearchOptions {
  readonly registry: Pick<Registry, 'search'>;
  readonly model: ChatModel | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
  progress(percent: number, message: string): void;
}

export interface SearchOutcome {
  /** Best first. */
  readonly candidates: readonly Candidate[];
  /** The reasons of the model for its choices, by name: untrusted text, cut to one line. */
  readonly choices: ReadonlyMap<string, string>;
  /** Why the model was not used, or not to the end. */
  readonly modelFailure?: string;
}

const MAX_STEPS = 4;
const MAX_SEARCHES = 8;
const MAX_FOUND = 60;
const MAX_CHOICES = 10;
const MAX_REASON = 300;
const EFFORT = { size: 'full', maxOutputTokens: 2_000 } as const;

const SEARCH_INPUT = z.object({ words: z.string().check(z.minLength(1), z.maxLength(500)) });
const CHOOSE_INPUT = z.object({
  servers: z.array(z.object({ name: z.string().check(z.maxLength(500)), reason: z.optional(z.string()) })),
});

const TOOLS: readonly OfferedTool[] = [
  {
    name: 'search_registry',
    description: 'Search the registries for MCP servers by a few words that describe what they do.',
    inputSchema: z.toJSONSchema(SEARCH_INPUT),
  },
  {
    name: 'choose_servers',
    description: 'Finish: name the servers that fit, best first, each with the reason in one sentence.',
    inputSchema: z.toJSONSchema(CHOOSE_INPUT),
  },
];

const RULES = `You find MCP servers for a purpose. Search with different words until you have found what fits, then choose.
Prefer servers that do exactly what is needed, have a verified namespace and miss nothing on this machine.
You only propose: a person decides what is installed.
${DATA_RULE}`;

export async function searchWithModel(purpose: string, options: ModelSearchOptions): Promise<SearchOutcome> {
  const { registry, model, limit, signal } = options;
  const ranked = await registry.search(purpose, { limit, signal });
  if (model === undefined) return { candidates: ranked, choices: new Map() };
  const search = new ModelSearch(ranked, options);
  try {
    await search.run(purpose, model);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TurnbuckleError)) throw error;
    return { ...search.outcome(), modelFailure: showLine(error.message, MAX_REASON) };
  }
  return search.outcome();
}

class ModelSearch {
  readonly #options: ModelSearchOptions;
  readonly #found: Map<string, Candidate>;
  readonly #choices = new Map<string, string>();
  #searches = 0;

  constructor(ranked: readonly Candidate[], options: ModelSearchOptions) {
    this.#options = options;
    this.#found = new Map(ranked.map((candidate) => [candidate.record.name, candidate]));
  }

  async run(purpose: string, model: ChatModel): Promise<void> {
    const { signal, progress } = this.#options;
    const first = describeFound([...this.#found.values()]);
    const messages: ChatMessage[] = [
      { role: 'system', text: RULES },
      { role: 'user', text: `${markData('purpose', purpose)}\nFound so far:\n${first}` },
    ];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      progress(20 + step * 15, 'A model is searching for suitable servers.');
      const { text, toolCalls } = await model.step({ messages, tools: TOOLS, effort: EFFORT, signal });
      if (toolCalls.length === 0) return;
      const outputs = [];
      for (const call of toolCalls)
        outputs.push({ id: call.id, name: call.name, text: await this.#answer(call) });
      if (this.#choices.size > 0) return;
      messages.push({ role: 'assistant', text, toolCalls }, { role: 'tool', outputs });
    }
  }

  /** What was chosen first, then the rest as it was ranked. */
  outcome(): SearchOutcome {
    const chosen = [...this.#choices.keys()].flatMap((name) => this.#found.get(name) ?? []);
    const rest = [...this.#found.values()].filter(({ record }) => !this.#choices.has(record.name));
    return {
      candidates: [...chosen, ...rest].slice(0, this.#options.limit),
      choices: this.#choices,
    };
  }

  async #answer({ name, input }: ToolCall): Promise<string> {
    if (name === 'search_registry') return this.#search(input);
    if (name === 'choose_servers') return this.#choose(input);
    return 'There is no such tool.';
  }

  async #search(input: unknown): Promise<string> {
    const parsed = z.safeParse(SEARCH_INPUT, input);
    if (!parsed.success) return 'Set "words" to the words to search for (up to 500 characters).';
    if (this.#searches >= MAX_SEARCHES) return 'Search limit reached. Choose from the results so far.';
    this.#searches += 1;
    const { registry, limit, signal } = this.#options;
    const found = await registry.search(parsed.data.words, { limit, signal });
    for (const candidate of found)
      if (this.#found.size < MAX_FOUND && !this.#found.has(candidate.record.name))
        this.#found.set(candidate.record.name, candidate);
    return describeFound(found);
  }

  /** Only what a search has found: a model can name anything. */
  #choose(input: unknown): string {
    const parsed = z.safeParse(CHOOSE_INPUT, input);
    const named = parsed.success ? parsed.data.servers : [];
    for (const { name, reason = '' } of named)
      if (this.#found.has(name) && this.#choices.size < MAX_CHOICES)
        this.#choices.set(name, showLine(reason, MAX_REASON));
    return 'None of these servers was in the search results. Use their exact names.';
  }
}

const describeFound = (candidates: readonly Candidate[]): string =>
  markData('registry', JSON.stringify(candidates.map(toShownCandidate)));
