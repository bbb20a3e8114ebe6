/** Takes out what the administrator forbids, and what a project may not bring along or nobody agreed to. */
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { faultError } from './file-fault.js';
import type { FileSettings } from './file-schema.js';
import { isOfProject } from './layers.js';
import type { ConfiguredServer } from './loaded-config.js';
import { isLoudVariable } from './loud-variables.js';
import { keyPath } from './parse.js';
import type { ReadLayer } from './read-layer.js';
import { removedOf, type TrustStore, trustChanged, trustRequired } from './trust.js';

/** What is asked of the agreements. */
export type Agreements = Pick<TrustStore, 'isTrusted'> &
  Partial<Pick<TrustStore, 'changedFiles' | 'changedKeys'>>;

export interface GuardOptions {
  readonly layers: readonly ReadLayer[];
  readonly settings: Partial<FileSettings>;
  readonly trust: Agreements;
  /** The user said yes to all of the project's servers for this run. */
  readonly trustProject?: boolean | undefined;
  /** The user's own file, where what is not for a project may stand. */
  readonly userFile: string;
}

/**
 * Sets the problem of every server that may not be used. One that was kept has to pass like any other. Answers what
 * is to be told of the others.
 */
export async function guard(
  servers: Map<string, ConfiguredServer>,
  options: GuardOptions,
): Promise<readonly TurnbuckleError[]> {
  const told: TurnbuckleError[] = [];
  const broken = options.layers.find(hasUnknownRules);
  for (const [name, server] of servers) {
    if (server.config === undefined) continue;
    const problem =
      broken === undefined ? await refusal(server, options, told) : unknownRules(name, broken.layer.file);
    if (problem !== undefined) servers.set(name, { ...server, problem, kept: false });
  }
  return told;
}

async function refusal(
  server: ConfiguredServer,
  options: GuardOptions,
  told: TurnbuckleError[],
): Promise<TurnbuckleError | undefined> {
  const { settings, trustProject } = options;
  const { name, origin } = server;
  if (isForbidden(name, settings)) return forbiddenError(name);
  if (!isOfProject(origin.scope) || trustProject === true) return undefined;
  const loud = loudVariable(server, options);
  if (loud !== undefined) return loud;
  const found = await checkTrust(server, options);
  if (found?.isUsed === true) told.push(found.error);
  return found?.isUsed === true ? undefined : found?.error;
}

/**
 * What is wrong with the agreement to a project's server; undefined when nothing is. `isUsed` where only files
 * changed that its command names, and the user wants no more than to be told.
 */
export async function checkTrust(
  server: ConfiguredServer,
  { trust, settings }: Pick<GuardOptions, 'trust' | 'settings'>,
): Promise<{ readonly error: TurnbuckleError; readonly isUsed: boolean } | undefined> {
  const isTrusted = await trust.isTrusted(server).catch(toTurnbuckleError);
  if (isTrusted === true) return undefined;
  // Where the files that it names cannot be told, nobody knows what would run.
  if (isTrusted !== false) return { error: isTrusted, isUsed: false };
  const { file } = server.origin;
  const changed = (await trust.changedFiles?.(server)) ?? [];
  const removed = await removedOf(server, changed);
  const keys = await trust.changedKeys?.(server);
  return changed.length > 0 && settings.changedScripts === 'warn'
    ? { error: trustChanged(server, file, { files: changed, removed }), isUsed: true }
    : { error: trustRequired(server, file, { files: changed, removed, keys }), isUsed: false };
}

/** Who agrees to a command sees the command. What such a variable makes of it nobody can see. */
function loudVariable(
  { name, entry, origin }: ConfiguredServer,
  { layers, userFile }: GuardOptions,
): TurnbuckleError | undefined {
  const variable = Object.keys(isRecord(entry.env) ? entry.env : {}).find(isLoudVariable);
  if (variable === undefined) return undefined;
  const written = layers
    .find(({ layer }) => layer.file === origin.file)
    ?.servers.find((one) => one.name === name);
  const keys = ['env', variable];
  const fault = {
    ...(written?.placeOf(keys) ?? origin),
    path: keyPath(written?.path ?? name, keys),
    text: `"${variable}" changes what programs load, run or trust, and may not be set by a project's file`,
  };
  return faultError(origin.file, fault, {
    server: name,
    hint: `If you want it, set it in your own file: turnbuckle add, or move the entry to ${userFile}`,
  });
}

function isForbidden(name: string, { forbid = [], allowOnly }: Partial<FileSettings>): boolean {
  const matches = (pattern: string): boolean =>
    new RegExp(
      `^${pattern
        .split('*')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*')}$`,
      's',
    ).test(name);
  return forbid.some(matches) || (allowOnly !== undefined && !allowOnly.some(matches));
}

/** What the administrator forbids cannot be told: then nothing is allowed. */
function hasUnknownRules({ layer, known, unclear, settings }: ReadLayer): boolean {
  if (layer.scope !== 'managed') return false;
  return !known || (['forbid', 'allowOnly'] as const).some((key) => unclear.has(key) && !(key in settings));
}

function unknownRules(server: string, file: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Server "${server}" is not used: the administrator's file ${file} cannot be read.`,
    {
      server,
      hint: 'It may forbid servers. The administrator of this machine has to repair it.',
    },
  );
}

function forbiddenError(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Server "${server}" is forbidden by the administrator of this machine.`,
    { server },
  );
}
