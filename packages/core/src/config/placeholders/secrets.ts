/**
 * Where `${secret:name}` comes from: a variable of the environment, the vault, or a command of the user's such
 * as `op read`, in this order.
 */
import { execFile } from 'node:child_process';
import { TurnbuckleError } from '../errors.js';
import { toVariable } from './interpolate.js';

export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Holds them as `secret/<name>`. What makes it fail is told, not passed over. */
  /** Opens the vault; called only when it may have the answer. */
  readonly vault?: (() => Promise<{ get(name: string): Promise<string | undefined> }>) | undefined;
  /** Prints the secret; `{name}` in its words is the name. */
  readonly command?: readonly string[] | undefined;
}

const COMMAND_MS = 30_000;
/** Ours alone: the command finds its own secrets in its own way. */
const OWN = /^TURNBUCKLE_((NEW_)?PASSPHRASE$|SECRET_|INPUT_)/;

/** The secret, or undefined when nobody has it. The command is run without a shell and its output never shown. */
export async function readSecret(
  name: string,
  { environment, vault, command }: SecretSources,
): Promise<string | undefined> {
  const given =
    environment[`TURNBUCKLE_SECRET_${toVariable(name)}`] ?? (await (await vault?.())?.get(`secret/${name}`));
  if (given !== undefined || command === undefined) return given;
  const [program = '', ...args] = command.map((word) => word.replaceAll('{name}', name));
  const env = Object.fromEntries(Object.entries(environment).filter(([variable]) => !OWN.test(variable)));
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: COMMAND_MS, maxBuffer: 1_024 * 1_024, env }, (error, stdout) => {
      if (error === null) return resolve(stdout.replace(/\r?\n$/, ''));
      const status = 'code' in error ? ` (${String(error.code)})` : '';
      reject(
        new TurnbuckleError('VARIABLE_MISSING', `The command for the secret "${name}" failed${status}.`, {
          hint: `Try it by hand: ${program} …`,
          data: { variable: name, kind: 'secret' },
        }),
      );
    });
  });
}
