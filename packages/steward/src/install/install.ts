/** Carries out an approved plan: installs exactly what it names, and makes the config entry. */
import type { GuardedFetch } from 'turnbuckle/host';
import { type Advisory, KNOWN_ADVISORIES } from './advisories.js';
import type { InstallSettings } from './allow-list.js';
import { fillEntry, type InputAnswers } from './entry-template.js';
import type { InstallPlan } from './install-plan.js';
import { installMcpb } from './mcpb/install-mcpb.js';
import { installNpm } from './npm/install-npm.js';
import type { NpmConfig } from './npm/npm-config.js';
import { pullImage } from './oci.js';
import { installError } from './refusal.js';

export interface InstallOptions extends InputAnswers {
  readonly fetch: GuardedFetch;
  readonly npm: NpmConfig;
  /** npm's own JavaScript file (`findNpm`). */
  readonly npmFile?: string | undefined;
  readonly signal: AbortSignal;
  readonly settings: InstallSettings;
  readonly advisories?: readonly Advisory[] | undefined;
  readonly now: number;
  /** The environment of the host. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const DAY_MS = 24 * 3_600_000;

export interface Installed {
  /** The config entry: absolute paths, literal arguments, placeholders for secrets. */
  readonly entry: Record<string, unknown>;
  readonly directory?: string;
  /** Over all installed files; without files, over the plan. */
  readonly packageHash: string;
}

/** Rejects with the reason of the signal on abort; then nothing is left. */
export async function install(plan: InstallPlan, options: InstallOptions): Promise<Installed> {
  // Before anything is downloaded: an answer may be missing.
  const entry = fillEntry(plan.server, plan.inputs, options);
  options.signal.throwIfAborted();
  const packageHash = await installFiles(plan, options);
  return {
    entry,
    packageHash,
    ...(plan.directory !== undefined && { directory: plan.directory }),
  };
}

async function installFiles(plan: InstallPlan, options: InstallOptions): Promise<string> {
  const { npmFile, advisories = KNOWN_ADVISORIES, settings } = options;
  if (plan.kind === 'mcpb') return installMcpb(plan, { ...options, origins: settings.registries?.mcpb });
  if (plan.kind === 'npm') {
    if (npmFile === undefined)
      throw installError(
        'COMMAND_NOT_FOUND',
        `${plan.identifier} cannot be installed because npm was not found.`,
        'Install npm (it comes with Node.js).',
      );
    const publishedBefore = options.now - settings.minAgeDays * DAY_MS;
    return installNpm(plan, { ...options, npmFile, advisories, publishedBefore });
  }
  if (plan.kind === 'oci' && plan.server.type === 'stdio') await pull(plan, options);
  return plan.integrity ?? `${plan.identifier}@${plan.version}`;
}

/** What a container engine needs to find its service. */
const ENGINE_VARIABLES = [
  'PATH',
  'HOME',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
];

async function pull({ server, shown }: InstallPlan, { signal, environment }: InstallOptions): Promise<void> {
  if (server.type !== 'stdio') return;
  const known = ENGINE_VARIABLES.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  const reference = shown.command[shown.command.indexOf('--') + 1] ?? '';
  await pullImage({ engine: server.command, reference }, { signal, environment: Object.fromEntries(known) });
}
