/** From a record to a plan: looks up what the plan has to show, then plans. */
import type { GuardedFetch } from 'turnbuckle/host';
import { parseImageName } from './identifiers.js';
import type { Choice, InstallPlan, PackageFacts, PlanOptions } from './install-plan.js';
import type { InstallableRecord } from './installable-record.js';
import { readMcpbFacts } from './mcpb/install-mcpb.js';
import type { NpmConfig } from './npm/npm-config.js';
import { readNpmFacts } from './npm/npm-facts.js';
import { readOciFacts } from './oci-digest.js';
import { choosePackage, planInstall } from './plan.js';
import { type InstallRefusal, isRefusal } from './refusal.js';

export interface PrepareOptions extends Omit<PlanOptions, 'facts'> {
  /** Limited to the registries of the settings; for packages with many versions it has to allow 32 MiB. */
  readonly fetch: GuardedFetch;
  readonly npm: NpmConfig;
  readonly signal: AbortSignal;
}

/** A refusal is a result. Rejects with FETCH_REFUSED if what is published is not acceptable, CONNECT_FAILED, or the abort. */
export async function prepareInstall(
  record: InstallableRecord,
  options: PrepareOptions,
): Promise<InstallPlan | InstallRefusal> {
  const choice = choosePackage(record, options);
  if (isRefusal(choice)) return choice;
  const first = planInstall(record, options);
  // Asking is of no use if it is refused for what the record itself says.
  if (isRefusal(first) && first.advisory !== undefined) return first;
  const facts = await readFacts(choice, options);
  return planInstall(record, {
    ...options,
    package: wantedOf(choice),
    ...(facts !== undefined && { facts }),
  });
}

const wantedOf = (choice: Choice): NonNullable<PlanOptions['package']> =>
  choice.kind === 'remote'
    ? { type: 'remote', identifier: choice.remote.url }
    : { type: choice.kind, identifier: choice.package.identifier, version: choice.package.version };

async function readFacts(choice: Choice, options: PrepareOptions): Promise<PackageFacts | undefined> {
  const { programs, settings } = options;
  if (choice.kind === 'remote' || choice.kind === 'pypi') return undefined;
  const { identifier, version = '', fileSha256 } = choice.package;
  if (choice.kind === 'npm')
    return programs.npm === undefined ? undefined : readNpmFacts({ identifier, version }, options);
  if (choice.kind === 'mcpb')
    return fileSha256 === undefined
      ? undefined
      : readMcpbFacts({ identifier, sha256: fileSha256 }, { ...options, origins: settings.registries?.mcpb });
  const image = parseImageName(identifier, choice.package.version);
  const isUsable = image !== undefined && (programs.docker ?? programs.podman) !== undefined;
  return isUsable ? readOciFacts(image, options) : undefined;
}
