/** Prepares a configured server for connecting: fills in placeholders, resolves relative paths, validates again. */
import { resolve } from 'node:path';
import { TurnbuckleError } from '../errors.js';
import { isSecretName } from '../redaction/secret-names.js';
import { selectAlike } from './credentials.js';
import { isProjectScope } from './layers/layers.js';
import type { ConfiguredServer } from './layers/loaded-config.js';
import { type ConfigFault, formatFaults, parseServer } from './layers/parse.js';
import { defaultableOf } from './layers/server-defaults.js';
import { interpolate, type Placeholders, type Service, toVariableName } from './placeholders/interpolate.js';
import { readSecret, type SecretSources } from './placeholders/secrets.js';
import type { InputDeclaration } from './schema/file-schema.js';
import type { ServerConfig } from './schema/schema.js';

export interface FillInSource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly secretCommand: readonly string[] | undefined;
  readonly vault: SecretSources['vault'];
  /** Registers a value for redaction. */
  readonly learn: (secret: string) => void;
  readonly askInput:
    | ((id: string, declared: InputDeclaration | undefined) => Promise<string | undefined>)
    | undefined;
  readonly service?: Service | undefined;
}

/** Rejects with VARIABLE_MISSING, or with CONFIG_INVALID if the values make it invalid. */
export async function fillIn(
  server: ServerConfig,
  origin: ConfiguredServer,
  source: FillInSource,
): Promise<ServerConfig> {
  const { name } = origin;
  const { file } = origin.origin;
  const entry = await interpolate(selectAlike(origin.entry, server), placeholdersFor(origin, source), {
    server: name,
    file,
    service: source.service,
  });
  try {
    const { scope, enabled } = server;
    const filled = parseServer(name, { ...entry, ...defaultableOf(server) });
    return withWorkingDirectory({ ...filled, scope, enabled }, origin);
  } catch (error) {
    throw error instanceof TurnbuckleError ? invalidAfterFillIn(error, file) : error;
  }
}

/** The errors after filling in, without the values, which may be secrets. */
function invalidAfterFillIn({ server, data }: TurnbuckleError, file: string): TurnbuckleError {
  const problems = (data?.problems ?? []) as readonly ConfigFault[];
  const text = formatFaults(
    problems.map((fault) => ({ ...fault, text: fault.text.replace(/, found .*$/s, '') })),
  );
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Invalid configuration for server "${server}" after its placeholders were filled in: ${text} (${file}).`,
    {
      server,
      hint: 'Check the variables, inputs and secrets that the placeholders refer to.',
      data: { file },
    },
  );
}

/** Relative paths of a project server are relative to the project, wherever the host was started. */
function withWorkingDirectory(server: ServerConfig, { directory, origin }: ConfiguredServer): ServerConfig {
  if (server.type !== 'stdio') return server;
  if (server.cwd !== undefined) return { ...server, cwd: resolve(directory, server.cwd) };
  return isProjectScope(origin.scope) ? { ...server, cwd: directory } : server;
}

/** Values that are secrets are learned when they are read. */
export function placeholdersFor(
  { directory, inputs }: ConfiguredServer,
  { environment, home, secretCommand, vault, learn, askInput }: FillInSource,
): Placeholders {
  return {
    environment,
    workspaceFolder: directory,
    userHome: home,
    input: async (id) => {
      const declared = inputs.find((one) => one.id === id);
      return (
        environment[`TURNBUCKLE_INPUT_${toVariableName(id)}`] ??
        (await askInput?.(id, declared)) ??
        declared?.default
      );
    },
    secret: (name) => readSecret(name, { environment, vault, command: secretCommand }),
    onValue: (name, value) => {
      const input = inputs.find(({ id }) => name === `input:${id}`);
      if (name.startsWith('secret:') || input?.password === true || isSecretName(name)) learn(value);
    },
  };
}
