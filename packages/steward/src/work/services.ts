/** What the steps of requests work with, made in each worker process from the settings that the daemon gives it. */
import { join } from 'node:path';
import { type ChatModel, createAiSdkModel, fillInKey } from '@turnbuckle/model';
import {
  createGuardedFetch,
  createVault,
  type GuardedFetch,
  type MentionableTool,
  type ModelSettings,
  type Vault,
} from 'turnbuckle/host';
import type { InstallSettings } from '../install/allow-list.js';
import { findPrograms } from '../install/find-programs.js';
import type { MachinePrograms } from '../install/install-plan.js';
import { type NpmConfig, readNpmConfig } from '../install/npm/npm-config.js';
import { createRegistry, type Registry } from '../registry/registry.js';
import { type RegistrySource, registryFetchOptions } from '../registry/registry-source.js';
import type { StewardServices } from '../workers/step.js';

/** Data that the daemon gives to its workers. */
export interface WorkSettings {
  readonly stateDir: string;
  /** Where packages are installed, each in a directory of its own. */
  readonly packageRoot: string;
  /** The user's config file: the only one that is changed. */
  readonly configFile: string;
  /** The directory of the daemon, whose configuration is read. */
  readonly cwd: string;
  readonly files: readonly string[];
  /** Of the daemon. Passed as data: the worker process itself, and what it starts, has only a few of them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly registries: readonly RegistrySource[];
  readonly install: InstallSettings;
  readonly approvalMs: number;
  /** Plans searches and judges what they find. */
  readonly model?: ModelSettings | undefined;
  /** The program that has secrets that the vault does not have. */
  readonly secretCommand?: readonly string[] | undefined;
  /** The setting of that name: whether tools are pinned at all. */
  readonly pins?: string | undefined;
  /** Whether bubblewrap works here. */
  readonly hasSandbox: boolean;
  /** The tools of the daemon, whose names a new server must not take. */
  readonly existing: readonly MentionableTool[];
}

export interface WorkServices extends StewardServices {
  readonly work: WorkSettings;
  readonly registry: Registry;
  /** Reaches only the configured registries. */
  readonly fetchPackages: GuardedFetch;
  readonly npm: NpmConfig;
  readonly programs: MachinePrograms;
  readonly vault: Vault;
  readonly model: ChatModel | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const MAX_PACKAGE_BYTES = 256 * 1_024 * 1_024;
const FETCH_MS = 300_000;
const MODEL_MS = 120_000;

export async function createWorkServices({
  settings,
  now,
}: Pick<StewardServices, 'settings' | 'now'>): Promise<Omit<WorkServices, keyof StewardServices>> {
  const work = settings as WorkSettings;
  const { environment } = work;
  const npm = await readNpmConfig({ environment, registry: work.install.registries?.npm });
  return {
    work,
    environment,
    npm,
    programs: await findPrograms(environment),
    vault: createVault({ stateDir: work.stateDir, environment }),
    registry: createRegistry({
      sources: work.registries,
      fetch: createGuardedFetch(registryFetchOptions(work.registries)),
      cacheDir: join(work.stateDir, 'registry-cache'),
      now,
    }),
    fetchPackages: createPackageFetch(work, npm),
    model: openModel(work),
  };
}

function openModel({ model, environment, stateDir, secretCommand }: WorkSettings): ChatModel | undefined {
  if (model === undefined) return undefined;
  const key = 'steward.model';
  return createAiSdkModel({
    settings: model,
    key,
    apiKey: () => fillInKey(key, model.apiKey, { environment, stateDir, secretCommand }),
    timeoutMs: MODEL_MS,
  });
}

/** The addresses of configured registries are the user's own choice, so they may be of this machine. */
function createPackageFetch({ install }: WorkSettings, npm: NpmConfig): GuardedFetch {
  const scopes = install.allow.flatMap(({ scope }) => (scope === undefined ? [] : [`${scope}/any`]));
  const urls = [
    ...['any', ...scopes].map((name) => npm.registryOf(name).url),
    ...(install.registries?.mcpb ?? []),
  ];
  const origins = [...new Set(urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin))];
  return createGuardedFetch({
    origins,
    allowedOrigins: origins,
    maxBytes: MAX_PACKAGE_BYTES,
    timeoutMs: FETCH_MS,
  });
}
