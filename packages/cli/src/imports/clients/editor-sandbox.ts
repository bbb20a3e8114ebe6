/** The sandbox of VS Code: a switch in each server, and one set of rules for all of them. */
import type { SandboxKeys } from '../dialect.js';
import { isEntry, ownValueAt } from '../formats/plain-value.js';

/** Writing is allowed by path and the network by domain; reading is allowed everywhere, except by path. */
export const editorSandbox: SandboxKeys = {
  keys: ['sandboxEnabled'],
  read(fields, turn, notes) {
    const { sandboxEnabled: isOn, sandbox: rules } = fields.rest();
    if (typeof isOn === 'boolean') fields.any('sandboxEnabled');
    if (isOn !== true) return undefined;
    if (isEntry(rules)) fields.any('sandbox');
    const allowWrite = ownValueAt(rules, ['filesystem', 'allowWrite']);
    const write = pathsIn(allowWrite)?.map(turn) ?? [];
    const domains = ownValueAt(rules, ['network', 'allowedDomains']);
    const network = Array.isArray(domains) && domains.length > 0;
    const lost = lostRules(rules, pathsIn(allowWrite) === undefined ? [] : ['filesystem.allowWrite']);
    if (lost.length > 0) notes.push(`not imported: ${lost.join(', ')} (limits on file and network access)`);
    if (network)
      notes.push(
        'VS Code allows only some domains; the Turnbuckle sandbox cannot limit domains, so it allows all of them',
      );
    notes.push(
      'in Turnbuckle, the server can read only its own directory; add the other paths that it needs to sandbox.read',
    );
    if (write.length > 0) return { write, network };
    return network ? true : 'offline';
  },
  write(sandbox, entry, notes) {
    entry.sandboxEnabled = true;
    notes.push('the VS Code sandbox has different limits; it does not limit what the server can read');
    const { write = [], network } = typeof sandbox === 'object' ? sandbox : {};
    const preset = typeof sandbox === 'object' ? sandbox.preset : sandbox;
    const hasNetwork = network ?? (preset === undefined || preset === true || preset === 'standard');
    const lost = [...(write.length > 0 ? ['sandbox.write'] : []), ...(hasNetwork ? ['sandbox.network'] : [])];
    if (lost.length > 0)
      notes.push(
        `not exported: ${lost.join(' and ')}. VS Code has one set of sandbox rules for all servers; add ${lost.length === 1 ? 'it' : 'them'} there`,
      );
  },
};

const MAX_PATHS = 200;
const MAX_PATH_LENGTH = 4_096;

/** Undefined for what our configuration does not accept. */
function pathsIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_PATHS) return undefined;
  const paths = value.filter(
    (path): path is string =>
      typeof path === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(path) && path.length <= MAX_PATH_LENGTH,
  );
  return paths.length === value.length ? paths : undefined;
}

function lostRules(rules: unknown, carried: readonly string[]): string[] {
  const groups = Object.entries(isEntry(rules) ? rules : {});
  return groups
    .flatMap(([group, given]): [string, unknown][] =>
      isEntry(given)
        ? Object.entries(given).map(([key, value]) => [`${group}.${key}`, value])
        : [[group, given]],
    )
    .filter(([key, value]) => !carried.includes(key) && !(Array.isArray(value) && value.length === 0))
    .map(([key]) => `sandbox.${key}`);
}
