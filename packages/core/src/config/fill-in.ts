/** A server of a file as it is connected: placeholders filled in, relative paths made absolute, looked at again. */
import { resolve } from 'node:path';
import { TurnbuckleError } from '../errors.js';
import { isSecretName } from '../text/secret-names.js';
import type { InputDeclaration } from './file-schema.js';
import { interpolate, type Placeholders, toVariable } from './interpolate.js';
import { isOfProject } from './layers.js';
import type { ConfiguredServer } from './loaded-config.js';
import { type ConfigFault, parseServer, tellFaults } from './parse.js';
import type { ServerConfig } from './schema.js';
import { readSecret, type SecretSources } from './secrets.js';

export interface FillInSource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly secretCommand: readonly string[] | undefined;
  readonly vault: SecretSources['vault'];
  /** Told what must never be shown. */
  readonly learn: (secret: string) => void;
  readonly askInput:
    | ((id: string, declared: InputDeclaration | undefined) => Promise<string | undefined>)
    | undefined;
  /** See PlaceholderOwner. */
  readonly isDaemon?: boolean | undefined;
}

/** Rejects with VARIABLE_MISSING, or CONFIG_INVALID when the values make it unusable. */
export async function fillIn(
  server: ServerConfig,
  origin: ConfiguredServer,
  source: FillInSource,
): Promise<ServerConfig> {
  const { name } = origin;
  const { file } = origin.origin;
  const entry = await interpolate(origin.entry, placeholdersFor(origin, source), {
    server: name,
    file,
    isDaemon: source.isDaemon,
  });
  try {
    const filled = parseServer(name, entry);
    return inDirectory({ ...filled, scope: server.scope, enabled: server.enabled }, origin);
  } catch (error) {
    throw error instanceof TurnbuckleError ? filledInWrong(error, file) : error;
  }
}

/** What is wrong once the placeholders are filled in, without the values, which may be secrets now. */
function filledInWrong({ server, data }: TurnbuckleError, file: string): TurnbuckleError {
  const problems = (data?.problems ?? []) as readonly ConfigFault[];
  const text = tellFaults(
    problems.map((fault) => ({ ...fault, text: fault.text.replace(/, found .*$/s, '') })),
  );
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${server}" cannot be used with its placeholders filled in: ${text} (${file}).`,
    { server, hint: 'Look at the values of its variables, inputs and secrets.', data: { file } },
  );
}

/** Relative paths of a project's server mean the project, wherever the host was started. */
function inDirectory(server: ServerConfig, { directory, origin }: ConfiguredServer): ServerConfig {
  if (server.type !== 'stdio') return server;
  if (server.cwd !== undefined) return { ...server, cwd: resolve(directory, server.cwd) };
  return isOfProject(origin.scope) ? { ...server, cwd: directory } : server;
}

function placeholdersFor(
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
        environment[`TURNBUCKLE_INPUT_${toVariable(id)}`] ??
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
