/** A server's entry as it may be shown: literal values that can be secrets are hidden, placeholders stay. */
const HIDDEN = '[hidden]';
const SECRET_FLAG = /token|secret|password|passwd|api[-_]?key|access[-_]?key|auth|credential/i;

export function redactEntry(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, redactValue(key, value)]));
}

function redactValue(key: string, value: unknown): unknown {
  if (key === 'token') return hide(value);
  if ((key === 'url' || key === 'baseUrl') && typeof value === 'string') return redactAddress(value);
  if (key === 'args' && Array.isArray(value)) return redactArguments(value);
  if ((key === 'env' || key === 'headers') && typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, hide(text)]));
  return value;
}

/** Credentials stand before the host or in the query; what has a placeholder in it has not been filled in. */
function redactAddress(text: string): string {
  return text
    .replace(/(:\/\/)([^/?#@]*)@/, (_all, slashes: string, who: string) => `${slashes}${hide(who)}@`)
    .replace(/([?&][^=&#]*=)([^&#]*)/g, (_all, key: string, value: string) => `${key}${hide(value)}`);
}

function redactArguments(args: readonly unknown[]): unknown[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    if (typeof arg !== 'string') return arg;
    if (typeof before === 'string' && /^-[^=]*$/.test(before) && SECRET_FLAG.test(before)) return hide(arg);
    const cut = arg.indexOf('=');
    return cut > 0 && SECRET_FLAG.test(arg.slice(0, cut))
      ? `${arg.slice(0, cut + 1)}${hide(arg.slice(cut + 1))}`
      : arg.includes('://')
        ? redactAddress(arg)
        : arg;
  });
}

const hide = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('${') ? value : HIDDEN;
