/** A failure of a server in one sentence, with what the server said last. */
import { toTurnbuckleError } from 'turnbuckle/host';

export function failureText(thrown: unknown): string {
  const { code, message, data } = toTurnbuckleError(thrown);
  const said = lastLine(data?.stderr);
  return `${code}: ${message}${said === '' ? '' : ` Its last output: ${said}`}`;
}

/** Only a whole line: half of a secret is not recognized as one. */
function lastLine(stderr: unknown): string {
  if (typeof stderr !== 'string') return '';
  const lines = stderr.split('\n');
  const last = lines.at(-1) ?? '';
  return lines.length === 1 && last.startsWith('…') ? '' : last;
}
