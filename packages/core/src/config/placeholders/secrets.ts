/**
 * Resolves `${secret:name}` from an environment variable, the vault, or a command of the user such as `op read`, in
 * this order.
 */
import { execFile } from 'node:child_process';
import { TurnbuckleError } from '../../errors.js';
import { toVariableName } from './interpolate.js';

export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Opens the vault, which stores secrets as `secret/<name>`; called only when needed. Its failures are reported. */
  readonly vault?: (() => Promise<{ get(name: string): Promise<string | undefined> }>) | undefined;
  /** Prints the secret; `{name}` in its arguments is replaced by the name. */
  readonly command?: readonly string[] | undefined;
}

const COMMAND_TIMEOUT_MS = 30_000;
/** Our own variables: the command does not need them. */
const OWN_VARIABLES = /^TURNBUCKLE_((NEW_)?PASSPHRASE$|SECRET_|INPUT_)/;

/** The name of a secret in the vault, which stores sign-ins, too. */
export const secretKey = (name: string): string => `secret/${name}`;

/** The secret, or undefined if no source has it. The command runs without a shell, and its output is never shown. */
export async function readSecret(
  name: string,
  { environment, vault, command }: SecretSources,
): Promise<string | undefined> {
  const given =
    environment[`TURNBUCKLE_SECRET_${toVariableName(name)}`] ??
    (await (await vault?.())?.get(secretKey(name)));
  if (given !== undefined || command === undefined) return given;
  const [program = '', ...args] = command.map((word) => word.replaceAll('{name}', name));
  const env = Object.fromEntries(
    Object.entries(environment).filter(([variable]) => !OWN_VARIABLES.test(variable)),
  );
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 1_024 * 1_024, env },
      (error, stdout) => {
        if (error === null) return resolve(stdout.replace(/\r?\n$/, ''));
        const status = 'code' in error ? ` (${String(error.code)})` : '';
        reject(
          new TurnbuckleError('VARIABLE_MISSING', `The secretCommand for secret "${name}" failed${status}.`, {
            hint: `Run the command by hand to see why: ${program} …`,
            data: { variable: name, kind: 'secret' },
          }),
        );
      },
    );
  });
}
