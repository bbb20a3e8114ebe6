import { TurnbuckleError } from 'turnbuckle';

/** The port from the flag or the variable PORT; undefined when neither is set. */
export function parsePort(flag: unknown, variable: string | undefined): number | undefined {
  const [text, name] = typeof flag === 'string' ? [flag, '--port'] : [variable, 'PORT'];
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid ${name} "${text}": expected a port.`, {
    hint: 'Use a number from 1 to 65535, or 0 for any free port.',
  });
}
