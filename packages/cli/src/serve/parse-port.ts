import { TurnbuckleError } from 'turnbuckle';

/** The port of the flag, or of the variable PORT; undefined when neither says anything. */
export function portOf(flag: unknown, variable: string | undefined): number | undefined {
  const [text, name] = typeof flag === 'string' ? [flag, '--port'] : [variable, 'PORT'];
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `${name} "${text}" is not a port.`, {
    hint: 'A number from 1 to 65535, or 0 for any that is free.',
  });
}
