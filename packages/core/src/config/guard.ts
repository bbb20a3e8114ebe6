/**
 * Blocks servers that the administrator forbids, that a project must not define, or that the user has not agreed to.
 */
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import { compileGlob } from '../text/glob.js';
import { shellQuote } from '../text/shell-quote.js';
import { environmentsOf } from './credentials.js';
import { faultError } from './layers/file-errors.js';
import { isProjectScope } from './layers/layers.js';
import type { ConfiguredServer } from './layers/loaded-config.js';
import { keyPath } from './layers/parse.js';
import type { ReadLayer } from './layers/read-layer.js';
import type { FileSettings } from './schema/file-schema.js';
import { findRemovedFiles, type TrustStore, trustChanged, trustRequired } from './trust/trust.js';
import { isUnsafeVariable } from './trust/unsafe-variables.js';

/** The part of the agreements that is used here. */
export type Agreements = Pick<TrustStore, 'isTrusted'> &
  Partial<Pick<TrustStore, 'changedFiles' | 'changedKeys'>>;

export interface ServerGuardOptions {
  readonly layers: readonly ReadLayer[];
  readonly settings: Partial<FileSettings>;
  readonly trust: Agreements;
  /** The user agreed to all project servers for this run. */
  readonly trustProject?: boolean | undefined;
  /** The user's own file, for settings that a project cannot have. */
  readonly userFile: string;
}

/**
 * Sets the problem of every blocked server. A retained server has to pass too. Returns the warnings about the others.
 */
export async function guardServers(
  servers: Map<string, ConfiguredServer>,
  options: ServerGuardOptions,
): Promise<readonly TurnbuckleError[]> {
  const warnings: TurnbuckleError[] = [];
  const broken = options.layers.find(hasUnknownRules);
  for (const [name, server] of servers) {
    if (server.config === undefined) continue;
    const problem =
      broken === undefined
        ? await findRefusal(server, options, warnings)
        : unknownRules(name, broken.layer.file);
    if (problem !== undefined) servers.set(name, { ...server, problem, kept: false });
  }
  return warnings;
}

async function findRefusal(
  server: ConfiguredServer,
  options: ServerGuardOptions,
  warnings: TurnbuckleError[],
): Promise<TurnbuckleError | undefined> {
  const { settings, trustProject } = options;
  const { name, origin } = server;
  if (isForbidden(name, settings)) return forbiddenError(name);
  if (!isProjectScope(origin.scope) || trustProject === true) return undefined;
  const unsafeVariable = findUnsafeVariable(server, options);
  if (unsafeVariable !== undefined) return unsafeVariable;
  const found = await checkTrust(server, options);
  if (found?.isUsed === true) warnings.push(found.error);
  return found?.isUsed === true ? undefined : found?.error;
}

/**
 * The problem with the agreement to a project server, if any. `isUsed`: only files in its command changed, and the
 * user chose to be warned only.
 */
export async function checkTrust(
  server: ConfiguredServer,
  { trust, settings }: Pick<ServerGuardOptions, 'trust' | 'settings'>,
): Promise<{ readonly error: TurnbuckleError; readonly isUsed: boolean } | undefined> {
  const isTrusted = await trust.isTrusted(server).catch(toTurnbuckleError);
  if (isTrusted === true) return undefined;
  // If the files in its command are unknown, it is unknown what would run.
  if (isTrusted !== false) return { error: isTrusted, isUsed: false };
  const { file } = server.origin;
  const changed = (await trust.changedFiles?.(server)) ?? [];
  const removed = await findRemovedFiles(server, changed);
  const keys = await trust.changedKeys?.(server);
  return changed.length > 0 && settings.changedScripts === 'warn'
    ? { error: trustChanged(server, file, { files: changed, removed }), isUsed: true }
    : { error: trustRequired(server, file, { files: changed, removed, keys }), isUsed: false };
}

/** The user reviews a command before agreeing. The effect of such a variable is not visible in it. */
function findUnsafeVariable(
  { name, entry, origin }: ConfiguredServer,
  { layers, userFile }: ServerGuardOptions,
): TurnbuckleError | undefined {
  const found = environmentsOf(entry).flatMap(({ keys, env }) =>
    Object.keys(env)
      .filter(isUnsafeVariable)
      .map((variable) => ({ variable, keys: [...keys, variable] })),
  )[0];
  if (found === undefined) return undefined;
  const { variable, keys } = found;
  const written = layers
    .find(({ layer }) => layer.file === origin.file)
    ?.servers.find((one) => one.name === name);
  const fault = {
    ...(written?.positionOf(keys) ?? origin),
    path: keyPath(written?.path ?? name, keys),
    text: `"${variable}" changes what programs load, run or trust, so a project file cannot set it`,
  };
  return faultError(origin.file, fault, {
    server: name,
    hint: `Only your own configuration can set this variable. Add the server there (turnbuckle add), or move its entry to ${userFile}`,
  });
}

function isForbidden(name: string, { forbid = [], allowOnly }: Partial<FileSettings>): boolean {
  // Only `*` is a wildcard here.
  const matches = (pattern: string): boolean =>
    compileGlob(pattern.replace(/[\\?]/g, '\\$&'), { crossSlashes: true })(name);
  return forbid.some(matches) || (allowOnly !== undefined && !allowOnly.some(matches));
}

/** If the administrator's restrictions are unknown, nothing is allowed. */
function hasUnknownRules({ layer, known, unclear, settings }: ReadLayer): boolean {
  if (layer.scope !== 'managed') return false;
  return !known || (['forbid', 'allowOnly'] as const).some((key) => unclear.has(key) && !(key in settings));
}

function unknownRules(server: string, file: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Server "${server}" is blocked because the administrator's file ${file} cannot be read.`,
    {
      server,
      hint: 'This file can forbid servers, so all servers are blocked until the file can be read. Ask the administrator of this machine to repair the file.',
    },
  );
}

function forbiddenError(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Server "${server}" is forbidden by the administrator of this machine.`,
    {
      server,
      hint: `Ask the administrator to allow it, or remove it: turnbuckle remove ${shellQuote(server)}`,
    },
  );
}
