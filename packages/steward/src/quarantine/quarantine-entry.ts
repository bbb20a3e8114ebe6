/** The configuration of a server while it is tested: the same program, with less of everything else. */
import { resolve } from 'node:path';
import type { ServerInput } from 'turnbuckle';
import { interpolate, isRecord } from 'turnbuckle/host';
import { ownPaths } from './own-paths.js';

export type ConfigEntry = Readonly<Record<string, unknown>>;

export interface EntryLimits {
  readonly connectMs: number;
  readonly listMs: number;
  readonly callMs: number;
}

export interface EntryOptions {
  readonly name: string;
  /** Values for its placeholders and variables, by name. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: EntryLimits;
  readonly isSandboxed: boolean;
  readonly allowNetwork: boolean;
  readonly directory?: string | undefined;
  /** An empty directory to work in, if the entry names none. */
  readonly workDirectory: string;
}

/** What says which server it is. Everything else (filters, guards, callers' credentials) is not tested. */
const KEPT_KEYS = [
  ...['type', 'transport', 'era', 'command', 'args', 'env', 'inheritEnv', 'cwd'],
  ...['url', 'baseUrl', 'id', 'token', 'headers', 'auth'],
];
/** Of each process. Node.js needs about 600 MB of address space before a program starts. */
const MEMORY_MB = 2_048;
const CPU_SECONDS = 120;

export const isLocal = ({ command }: ConfigEntry): boolean => typeof command === 'string';

/** Rejects with VARIABLE_MISSING if a placeholder has no value. */
export async function quarantineEntry(entry: ConfigEntry, options: EntryOptions): Promise<ServerInput> {
  const { name, environment, limits, workDirectory } = options;
  const kept = Object.fromEntries(KEPT_KEYS.filter((key) => key in entry).map((key) => [key, entry[key]]));
  const find = async (key: string): Promise<string | undefined> => environment[key];
  const filled: ConfigEntry = await interpolate(
    { ...kept, ...(isRecord(kept.env) && { env: withValues(kept.env, environment) }) },
    {
      environment,
      input: async (id) => environment[`input:${id}`] ?? find(id),
      secret: async (secret) => environment[`secret:${secret}`] ?? find(secret),
      workspaceFolder: workDirectory,
      userHome: workDirectory,
    },
    { server: name },
  );
  const tested = {
    ...filled,
    ...(isLocal(entry) && (await localSettings(entry, filled, options))),
    // One attempt: what fails is a finding, not something to heal.
    start: 'lazy',
    reconnect: { tries: 0 },
    mayAsk: [],
    pingMs: 0,
    idleMs: 0,
    connectTimeoutMs: limits.connectMs,
    listTimeoutMs: limits.listMs,
    callTimeoutMs: limits.callMs,
    maxCallMs: limits.callMs,
  };
  // The runtime validates it, as it would validate a file.
  return tested as unknown as ServerInput;
}

function withValues(env: ConfigEntry, environment: EntryOptions['environment']): ConfigEntry {
  return Object.fromEntries(
    Object.entries(env).map(([key, value]) => [
      key,
      // A value may itself contain what looks like a placeholder.
      Object.hasOwn(environment, key) ? (environment[key] ?? '').replaceAll('${', () => '$${') : value,
    ]),
  );
}

async function localSettings(
  { sandbox }: ConfigEntry,
  { cwd, args }: ConfigEntry,
  options: EntryOptions,
): Promise<Record<string, unknown>> {
  const { isSandboxed, allowNetwork, directory, workDirectory } = options;
  const place = typeof cwd === 'string' ? resolve(cwd) : undefined;
  const always = { cwd: place ?? workDirectory, endDetached: true };
  if (!isSandboxed) return always;
  const listed = isRecord(sandbox) ? [...textsOf(sandbox.read), ...textsOf(sandbox.write)] : [];
  // A record chooses the arguments of what is installed: only what was approved is shown.
  const isListed = directory !== undefined || (isRecord(sandbox) && Array.isArray(sandbox.read));
  const own = await ownPaths({ directory, cwd: place, ...(!isListed && { args: textsOf(args) }) });
  const read = [...new Set([...own, ...listed])];
  const limits = { home: 'empty', memoryMb: MEMORY_MB, cpuSeconds: CPU_SECONDS };
  return {
    ...always,
    sandbox: { preset: 'strict', network: allowNetwork, read, write: [], ...limits },
  };
}

const textsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
