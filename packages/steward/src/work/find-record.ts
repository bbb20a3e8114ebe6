/** The record of the server to add: named exactly, or the best candidate for a purpose that may be installed here. */
import { TurnbuckleError } from 'turnbuckle';
import type { PlanOptions } from '../install/install-plan.js';
import type { InstallableRecord } from '../install/installable-record.js';
import { choosePackage } from '../install/plan.js';
import { type InstallRefusal, isRefusal } from '../install/refusal.js';
import type { Candidate } from '../registry/ranking.js';
import type { RequestParams } from '../requests/request.js';
import { type ShownCandidate, toShownCandidate } from './candidates.js';
import { searchWithModel } from './search-with-model.js';
import type { WorkServices } from './services.js';

export interface FoundRecord {
  readonly record: InstallableRecord;
  readonly verified: boolean;
  /** By its registry. */
  readonly isDeprecated: boolean;
  readonly similarTo?: string;
  readonly package?: PlanOptions['package'];
  /** Why a model chose it: untrusted text. */
  readonly modelReason?: string;
  /** What else was found, for whoever decides. */
  readonly alternatives: readonly ShownCandidate[];
}

export interface FindOptions {
  readonly plan: PlanOptions;
  readonly signal: AbortSignal;
  progress(percent: number, message: string): void;
}

type AddParams = RequestParams<'add_server'>;

const MAX_CANDIDATES = 20;
const MAX_ALTERNATIVES = 5;

/** Rejects with TOOL_UNKNOWN if nothing fits, or with the reason why what fits must not be installed. */
export async function findRecord(
  params: AddParams,
  { registry, model }: Pick<WorkServices, 'registry' | 'model'>,
  options: FindOptions,
): Promise<FoundRecord> {
  const { registryName, package: exact, purpose, serverName } = params;
  if (registryName !== undefined) return findByName(registryName, params, { registry, ...options });
  if (exact !== undefined) return toFound(recordOf(exact), params);
  const words = [purpose, serverName].filter((text) => text !== undefined).join(' ');
  const found = await searchWithModel(words, { registry, model, limit: MAX_CANDIDATES, ...options });
  const chosen = chooseCandidate(found.candidates, words, options.plan);
  const modelReason = found.choices.get(chosen.record.name);
  return { ...chosen, ...(modelReason !== undefined && { modelReason }) };
}

async function findByName(
  name: string,
  params: AddParams,
  { registry, signal }: Pick<WorkServices, 'registry'> & { readonly signal: AbortSignal },
): Promise<FoundRecord> {
  const record = await registry.get(name, undefined, signal);
  if (record === undefined)
    throw new TurnbuckleError('SERVER_UNKNOWN', `No registry has a server named "${name}".`, {
      hint: 'Search for servers by what they do: turnbuckle search <purpose>',
    });
  return { ...toFound(record, params), ...(await registry.judge(record, signal)) };
}

/** Nothing is chosen for good here: a person sees exactly what would be installed, and the alternatives. */
function chooseCandidate(candidates: readonly Candidate[], words: string, plan: PlanOptions): FoundRecord {
  const refusals: InstallRefusal[] = [];
  for (const candidate of candidates) {
    const { record, verified, similarTo } = candidate;
    const choice = choosePackage(record, { ...plan, verified });
    if (isRefusal(choice)) {
      refusals.push(choice);
      continue;
    }
    const others = candidates.filter((one) => one !== candidate).slice(0, MAX_ALTERNATIVES);
    const signals = { verified, isDeprecated: false, ...(similarTo !== undefined && { similarTo }) };
    return { record, ...signals, alternatives: others.map(toShownCandidate) };
  }
  const [first] = refusals;
  if (first !== undefined)
    throw new TurnbuckleError(
      'CALL_DENIED',
      `Servers matching "${words}" were found, but none can be installed. ${first.reason}`,
      {
        hint: first.hint,
      },
    );
  throw new TurnbuckleError('SERVER_UNKNOWN', `No server matching "${words}" was found in any registry.`, {
    hint: 'Describe the purpose in other words, or add the server by hand: turnbuckle add <name> -- <command>',
  });
}

const toFound = (record: InstallableRecord, { package: exact }: AddParams): FoundRecord => ({
  record,
  verified: false,
  isDeprecated: false,
  alternatives: [],
  ...(exact !== undefined && { package: exact }),
});

/** A package that is named exactly, without a registry of servers. */
function recordOf({ type, identifier, version }: NonNullable<AddParams['package']>): InstallableRecord {
  // A remote is always that of a record.
  const registryType = type as Exclude<typeof type, 'remote'>;
  return {
    name: identifier,
    isUnlisted: true,
    version,
    packages: [{ registryType, identifier, version, transport: { type: 'stdio' } }],
  };
}
