/** One server of a file: its configuration, or its problem with the position in the file. */
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { findMalformed } from '../../text/placeholders.js';
import { PLACEHOLDER_HINT } from '../placeholders/interpolate.js';
import type { ServerConfig, ServerDefaults } from '../schema/schema.js';
import { faultError } from './file-errors.js';
import { isProjectScope, type Layer, type LayerScope } from './layers.js';
import { type ConfigFault, formatFaults, keyPath, parseServer } from './parse.js';
import type { WrittenServer } from './read-servers.js';
import { withDefaults } from './server-defaults.js';

export interface WrittenEntry {
  readonly written: WrittenServer;
  readonly layer: Layer;
  /** The complete entry: what is written, merged with what it overrides. */
  readonly entry: unknown;
  /** The scope of the file with the command or URL. */
  readonly scope: LayerScope;
  readonly defaults: ServerDefaults | undefined;
}

export type ParsedEntry =
  | { readonly config: ServerConfig; readonly problem: undefined }
  | { readonly config: undefined; readonly problem: TurnbuckleError };

/** Keys that relax a guard: a project cannot set them. */
const PRIVILEGED = ['trusted', 'scope', 'inheritEnv'];

export function parseEntry({ written, layer, entry, scope, defaults }: WrittenEntry): ParsedEntry {
  const { name, path } = written;
  const refuse = (keys: readonly PropertyKey[], text: string, hint?: string): ParsedEntry => {
    const fault = { ...written.positionOf(keys), path: keyPath(path, keys), text };
    return { config: undefined, problem: faultError(layer.file, fault, { server: name, hint }) };
  };
  const privileged = isProjectScope(scope)
    ? PRIVILEGED.find((key) => isRecord(entry) && Object.hasOwn(entry, key))
    : undefined;
  if (privileged !== undefined)
    return refuse([privileged], `"${privileged}" cannot be set in a project file`);
  const malformed = findMalformed(entry);
  if (malformed !== undefined)
    return refuse(malformed.keys, `invalid placeholder: ${malformed.beginning}`, PLACEHOLDER_HINT);
  try {
    const config = parseServer(name, withDefaults(entry, defaults), path);
    // A file is not code of the host: what it does not mention is not allowed.
    const mayAsk = config.mayAsk ?? [];
    return { config: { ...config, mayAsk, scope: publicScope(scope, config) }, problem: undefined };
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    return { config: undefined, problem: withPosition(error, written, layer) };
  }
}

function publicScope(scope: LayerScope, config: ServerConfig): ServerConfig['scope'] {
  if (config.type === 'proxy') return 'claudeai';
  return scope === 'environment' || scope === 'flags' ? 'user' : scope;
}

/** The error of the parser, with the position of its first fault. */
function withPosition(error: TurnbuckleError, written: WrittenServer, { file }: Layer): TurnbuckleError {
  const problems = (error.data?.problems ?? []) as readonly ConfigFault[];
  const at = written.positionOf(problems[0]?.keys ?? []);
  const { count } = error.data ?? {};
  const text = formatFaults(problems, typeof count === 'number' ? count : problems.length);
  return faultError(file, { ...at, path: '', text }, { server: written.name, problems });
}
