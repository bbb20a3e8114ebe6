/** Where `${secret:name}` comes from: a variable of the environment, or a command of the user's such as `op read`. */
import { execFile } from 'node:child_process';
import { TurnbuckleError } from '../errors.js';
import { toVariable } from './interpolate.js';

export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints the secret; `{name}` in its words is the name. */
  readonly command?: readonly string[] | undefined;
}

const COMMAND_MS = 30_000;

/** The secret, or undefined when nobody has it. The command is run without a shell and its output never shown. */
export async function readSecret(
  name: string,
  { environment, command }: SecretSources,
): Promise<string | undefined> {
  const given = environment[`TURNBUCKLE_SECRET_${toVariable(name)}`];
  if (given !== undefined || command === undefined) return given;
  const [program = '', ...args] = command.map((word) => word.replaceAll('{name}', name));
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { timeout: COMMAND_MS, maxBuffer: 1_024 * 1_024, env: { ...environment } },
      (error, stdout) => {
        if (error === null) return resolve(stdout.replace(/\r?\n$/, ''));
        const status = 'code' in error ? ` (${String(error.code)})` : '';
        reject(
          new TurnbuckleError('VARIABLE_MISSING', `The command for the secret "${name}" failed${status}.`, {
            hint: `Try it by hand: ${program} …`,
            data: { variable: name, kind: 'secret' },
          }),
        );
      },
    );
  });
}
