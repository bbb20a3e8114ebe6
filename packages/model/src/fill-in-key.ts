/** The key of the model: a placeholder in the file, filled in when the model is used for the first time. */
import { TurnbuckleError } from 'turnbuckle';
import { createVault, homeDirectory, interpolate, readSecret } from 'turnbuckle/host';

export interface KeySource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly secretCommand?: readonly string[] | undefined;
}

/** `key`: where the settings are, such as `agent.model`. Rejects with VARIABLE_MISSING if nothing has the value. */
export async function fillInKey(
  key: string,
  apiKey: string | undefined,
  { environment, stateDir, secretCommand }: KeySource,
): Promise<string | undefined> {
  if (apiKey === undefined) return undefined;
  const vault = async () => createVault({ stateDir, environment });
  const home = homeDirectory(environment);
  const source = {
    environment,
    workspaceFolder: home,
    userHome: home,
    secret: (name: string) => readSecret(name, { environment, vault, command: secretCommand }),
  };
  try {
    return await interpolate(apiKey, source, { server: key, service: 'daemon' });
  } catch (error) {
    throw error instanceof TurnbuckleError ? ofTheModel(key, error) : error;
  }
}

/** The error speaks of a server; here it is a model that has no value. */
function ofTheModel(key: string, { code, hint, data }: TurnbuckleError): TurnbuckleError {
  const name = typeof data?.variable === 'string' ? ` "${data.variable}"` : '';
  return new TurnbuckleError(
    code,
    `${key} in your config file has no API key: the value${name} is not available.`,
    { hint },
  );
}
