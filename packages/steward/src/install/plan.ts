/**
 * Decides from a record what would be installed and run, exactly, or why nothing is. Pure: what has to be looked up
 * (`PackageFacts`) is given; `prepare.ts` does both.
 */
import { showLine } from 'turnbuckle/host';
import { findAdvisories, KNOWN_ADVISORIES } from './advisories.js';
import { checkAllowed } from './allow-list.js';
import { showCommand } from './entry-template.js';
import { identifierFault, isEntryName } from './identifiers.js';
import {
  type Choice,
  cannotInstall,
  type InstallPlan,
  type KindOptions,
  type KindPlan,
  type PlanOptions,
} from './install-plan.js';
import type { InstallablePackage, InstallableRecord, InstallableRemote } from './installable-record.js';
import { planMcpb } from './mcpb/plan-mcpb.js';
import { planNpm } from './npm/plan-npm.js';
import { planOci } from './oci.js';
import { planPypi } from './pypi.js';
import { RecordFault, RecordInputs } from './record-inputs.js';
import { type InstallRefusal, isRefusal, refuse } from './refusal.js';
import { addressOf, planRemote } from './remote.js';

const DAY_MS = 24 * 3_600_000;
const MAX_OFFERS = 50;
const MAX_FAULT_LENGTH = 800;

/** The first package or remote of the record that may be installed; otherwise why none may. */
export function choosePackage(record: InstallableRecord, options: PlanOptions): Choice | InstallRefusal {
  if (!isEntryName(options.serverName))
    return refuse(
      `"${options.serverName.slice(0, 100)}" is not a valid server name.`,
      'Use up to 100 characters: letters, digits, ".", "-" and "_".',
    );
  const offers = [
    ...(record.packages ?? []).map((one) => ({ type: one.registryType, offer: one })),
    ...(record.remotes ?? []).map((one) => ({ type: 'remote' as const, offer: one })),
  ].slice(0, MAX_OFFERS);
  const wanted = offers.filter(({ offer }) => isWanted(offer, options.package));
  const refusals: InstallRefusal[] = [];
  for (const { offer } of wanted) {
    const choice = checkOffer(record, offer, options);
    if (!isRefusal(choice)) return choice;
    refusals.push(choice);
  }
  const [first] = refusals;
  if (first === undefined)
    return refuse(
      `${record.name} has no ${options.package === undefined ? 'package or remote' : `package ${showLine(options.package.identifier)}`}.`,
      'Choose another server from the registry.',
    );
  const others = refusals.slice(1).map(({ reason }) => reason);
  return others.length === 0 ? first : { ...first, reason: [first.reason, ...new Set(others)].join(' ') };
}

function isWanted(offer: InstallablePackage | InstallableRemote, wanted: PlanOptions['package']): boolean {
  if (wanted === undefined) return true;
  if (!('registryType' in offer)) return wanted.type === 'remote' && wanted.identifier === offer.url;
  return (
    wanted.type === offer.registryType &&
    wanted.identifier === offer.identifier &&
    (wanted.version === undefined || wanted.version === offer.version)
  );
}

function checkOffer(
  record: InstallableRecord,
  offer: InstallablePackage | InstallableRemote,
  options: PlanOptions,
): Choice | InstallRefusal {
  const namespace = record.name.split('/')[0] ?? '';
  const subject = { namespace, verified: options.verified === true };
  const { allow } = options.settings;
  if (!('registryType' in offer))
    return (
      checkAllowed(allow, { ...subject, type: 'remote', name: addressOf(offer) }) ?? {
        kind: 'remote',
        remote: offer,
      }
    );
  const { registryType: kind, identifier, version, transport } = offer;
  const fault = identifierFault(kind, identifier, version);
  if (fault !== undefined) return refuseIdentifier(record, kind, fault);
  // No rule can allow one.
  if (kind === 'nuget')
    return cannotInstall(identifier, 'NuGet packages need the .NET SDK, which is not supported');
  const name = kind === 'oci' ? identifier.replace(/[:@](?!.*\/).*$/, '') : identifier;
  const denied = checkAllowed(allow, { ...subject, type: kind, name });
  if (denied !== undefined) return denied;
  if (transport.type !== 'stdio')
    return cannotInstall(
      identifier,
      `it listens on its own port (${transport.type.slice(0, 30)}), and only stdio is supported`,
    );
  return { kind, package: offer };
}

/** The name is shown safely: it may have any characters. */
const refuseIdentifier = (
  { name, isUnlisted }: InstallableRecord,
  kind: InstallablePackage['registryType'],
  fault: string,
): InstallRefusal =>
  refuse(
    `The ${kind} package${isUnlisted ? '' : ` of ${name}`} is refused because ${showLine(fault, MAX_FAULT_LENGTH)}.`,
    `Only exact names and exact versions are installed. ${
      isUnlisted
        ? 'Send the request again with the exact name and version.'
        : 'Report this record to its registry.'
    }`,
  );

/** The plan for a record, or the reason why there is none. */
export function planInstall(record: InstallableRecord, options: PlanOptions): InstallPlan | InstallRefusal {
  const choice = choosePackage(record, options);
  if (isRefusal(choice)) return choice;
  const identifier = choice.kind === 'remote' ? addressOf(choice.remote) : choice.package.identifier;
  const version = (choice.kind === 'remote' ? undefined : choice.package.version) ?? record.version;
  const found =
    choice.kind === 'remote'
      ? []
      : findAdvisories(options.advisories ?? KNOWN_ADVISORIES, { type: choice.kind, identifier, version });
  const bad = found.find(({ level }) => level === 'refuse');
  if (bad !== undefined)
    return {
      ...refuse(
        `${identifier} ${version} is refused: ${bad.text} (${bad.id}).`,
        'Choose a fixed version or another server.',
      ),
      advisory: bad.id,
    };
  const young = tooYoung(`${identifier} ${version}`, options);
  if (young !== undefined) return young;
  const inputs = new RecordInputs(options.serverName, options.secretScope);
  const own = planKind(choice, { ...options, inputs });
  if (isRefusal(own)) return own;
  const { server, directory, file } = own;
  return {
    kind: choice.kind,
    serverName: options.serverName,
    identifier,
    version: own.version ?? version,
    ...(options.facts !== undefined && choice.kind !== 'remote' && { integrity: options.facts.integrity }),
    ...(directory !== undefined && { directory }),
    ...(file !== undefined && { file }),
    inputs: inputs.fields,
    server,
    shown: {
      command:
        server.type === 'stdio' ? showCommand(server, inputs.fields, options.values) : [showUrl(server.url)],
      warnings: [
        ...found.map(({ text, id }) => `${text} (${id})`),
        ...commonWarnings(record, options),
        ...(isUnconfined(own, choice) ? ['there is no sandbox: the server runs with all your rights'] : []),
        ...(own.warnings ?? []),
      ],
    },
  };
}

const showUrl = (url: ReadonlyArray<string | { readonly input: string }>): string =>
  url.map((piece) => (typeof piece === 'string' ? piece : `<${piece.input}>`)).join('');

function planKind(choice: Choice, options: KindOptions): KindPlan | InstallRefusal {
  try {
    if (choice.kind === 'remote') return planRemote(choice.remote, options);
    if (choice.kind === 'npm') return planNpm(choice.package, options);
    if (choice.kind === 'mcpb') return planMcpb(choice.package, options);
    return choice.kind === 'pypi' ? planPypi(choice.package, options) : planOci(choice.package, options);
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    const what = choice.kind === 'remote' ? addressOf(choice.remote) : choice.package.identifier;
    return refuse(
      `${what} is refused because its record ${error.message}.`,
      'Report this record to its registry.',
    );
  }
}

function commonWarnings({ name, isUnlisted }: InstallableRecord, options: PlanOptions): string[] {
  const { facts, verified, similarTo, isDeprecated = false } = options;
  const namespace = name.split('/')[0] ?? '';
  const unlisted = `the package is not listed in a registry of servers: the publisher of ${name} has not been verified`;
  return [
    ...(verified === true
      ? []
      : [isUnlisted ? unlisted : `the owner of the namespace ${namespace} has not been verified`]),
    ...(similarTo === undefined ? [] : [`the name resembles that of ${similarTo}, which is better known`]),
    ...(isDeprecated ? ['the registry says that the server is deprecated'] : []),
    ...(facts?.hasInstallScripts === true
      ? ['the package has install scripts, which are not run; it may not work without them']
      : []),
    ...(facts?.deprecated === undefined ? [] : [`the package is deprecated: ${facts.deprecated}`]),
  ];
}

/** A remote server runs elsewhere, and an image in a container. */
const isUnconfined = ({ server }: KindPlan, { kind }: Choice): boolean =>
  server.type === 'stdio' && server.sandboxRead === undefined && kind !== 'oci';

/** Malicious versions are mostly found and removed within days. */
function tooYoung(what: string, { facts, settings, now }: PlanOptions): InstallRefusal | undefined {
  if (facts?.publishedAt === undefined) return undefined;
  const { minAgeDays } = settings;
  const ageDays = (now - facts.publishedAt) / DAY_MS;
  if (ageDays >= minAgeDays) return undefined;
  const from = new Date(facts.publishedAt + minAgeDays * DAY_MS).toISOString().slice(0, 16).replace('T', ' ');
  return refuse(
    `${what} was published ${formatAge(ageDays)} ago. Versions younger than ${minAgeDays} days are not installed.`,
    `Install an older version, wait until ${from} UTC, or set steward.minAgeDays in your config file.`,
  );
}

function formatAge(days: number): string {
  if (days >= 2) return `${Math.floor(days)} days`;
  const hours = Math.max(0, Math.floor(days * 24));
  return `${hours} ${hours === 1 ? 'hour' : 'hours'}`;
}
