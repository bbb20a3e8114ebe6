/** One server as a file has it: its configuration, or what is wrong with it and where in the file. */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { faultError } from './file-fault.js';
import { PLACEHOLDER_HINT } from './interpolate.js';
import { isOfProject, type Layer, type LayerScope } from './layers.js';
import { type ConfigFault, keyPath, parseServer, tellFaults } from './parse.js';
import { findMalformed } from './placeholders.js';
import type { WrittenServer } from './read-servers.js';
import type { ServerConfig } from './schema.js';

export interface WrittenEntry {
  readonly written: WrittenServer;
  readonly layer: Layer;
  /** The whole entry: what is written, on top of what it adjusts. */
  readonly entry: unknown;
  /** The scope of the file that says what to run or contact. */
  readonly scope: LayerScope;
}

export type ParsedEntry =
  | { readonly config: ServerConfig; readonly problem: undefined }
  | { readonly config: undefined; readonly problem: TurnbuckleError };

/** Keys that lower a guard: not for a project to set. */
const PRIVILEGED = ['trusted', 'scope', 'inheritEnv'];

export function parseEntry({ written, layer, entry, scope }: WrittenEntry): ParsedEntry {
  const { name, path } = written;
  const refuse = (keys: readonly PropertyKey[], text: string, hint?: string): ParsedEntry => {
    const fault = { ...written.placeOf(keys), path: keyPath(path, keys), text };
    return { config: undefined, problem: faultError(layer.file, fault, { server: name, hint }) };
  };
  const privileged = isOfProject(scope)
    ? PRIVILEGED.find((key) => isRecord(entry) && Object.hasOwn(entry, key))
    : undefined;
  if (privileged !== undefined)
    return refuse([privileged], `"${privileged}" may not be set by a project's file`);
  const malformed = findMalformed(entry);
  if (malformed !== undefined)
    return refuse(
      malformed.keys,
      `a placeholder is not understood: ${malformed.beginning}`,
      PLACEHOLDER_HINT,
    );
  try {
    const config = parseServer(name, entry, path);
    // A file is not the host's code: what it does not mention is not allowed.
    const mayAsk = config.mayAsk ?? [];
    return { config: { ...config, mayAsk, scope: publicScope(scope, config) }, problem: undefined };
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    return { config: undefined, problem: placed(error, written, layer) };
  }
}

function publicScope(scope: LayerScope, config: ServerConfig): ServerConfig['scope'] {
  if (config.type === 'proxy') return 'claudeai';
  return scope === 'environment' || scope === 'flags' ? 'user' : scope;
}

/** The error of the parser, with the place of its first fault in the file. */
function placed(error: TurnbuckleError, written: WrittenServer, { file }: Layer): TurnbuckleError {
  const problems = (error.data?.problems ?? []) as readonly ConfigFault[];
  const at = written.placeOf(problems[0]?.keys ?? []);
  const { count } = error.data ?? {};
  const text = tellFaults(problems, typeof count === 'number' ? count : problems.length);
  return faultError(file, { ...at, path: '', text }, { server: written.name, problems });
}
