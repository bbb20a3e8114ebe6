/** A server's configuration as it may be shown: values that can be secrets are replaced, names stay. */
import type { ServerConfig } from './schema.js';

const HIDDEN = '[redacted]';

/** Safe to print: values of env, headers and tokens are hidden, credentials in URLs and arguments too. */
export function redactConfig(config: ServerConfig): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...config };
  for (const key of ['env', 'headers'] as const) {
    const map = shown[key];
    if (typeof map === 'object' && map !== null) {
      shown[key] = Object.fromEntries(Object.keys(map).map((name) => [name, HIDDEN]));
    }
  }
  if ('token' in config && config.token !== undefined) shown.token = HIDDEN;
  if ('url' in config) shown.url = redactUrl(config.url);
  if ('baseUrl' in config) shown.baseUrl = redactUrl(config.baseUrl);
  if ('args' in config) shown.args = redactArguments(config.args);
  if ('server' in config) shown.server = '[object in this process]';
  return shown;
}

function redactUrl(text: string): string {
  // With a placeholder in it, which has to stay readable, it may be no address yet.
  if (text.includes('${') || !URL.canParse(text))
    return text.replace(/(:\/\/)[^/@]*@/, '$1redacted@').replace(/=(?!\$\{[^}]*\}(&|$))[^&#]*/g, '=redacted');
  const url = new URL(text);
  if (url.username !== '') url.username = 'redacted';
  if (url.password !== '') url.password = 'redacted';
  for (const key of url.searchParams.keys()) url.searchParams.set(key, 'redacted');
  return url.href;
}

const SECRET_FLAG = /(token|secret|password|passwd|api[-_]?key|access[-_]?key|auth|credential)/i;

function redactArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    if (before?.startsWith('-') && !before.includes('=') && SECRET_FLAG.test(before)) return HIDDEN;
    const equals = arg.indexOf('=');
    if (equals > 0 && SECRET_FLAG.test(arg.slice(0, equals))) return `${arg.slice(0, equals + 1)}${HIDDEN}`;
    return arg;
  });
}
