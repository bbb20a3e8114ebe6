/** The secrets and variables that an entry names, for a test in quarantine. They go to the process and nowhere else. */
import { readSecret, type Vault } from 'turnbuckle/host';

const SECRET = /\$\{secret:([^}]+)\}/g;
const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g;

export interface ValueSources {
  readonly vault: Pick<Vault, 'get'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** By the names that a quarantine understands: `secret:<name>`, or the name of a variable. */
export async function valuesFor(
  entry: Readonly<Record<string, unknown>>,
  { vault, environment }: ValueSources,
): Promise<Record<string, string>> {
  // An escaped placeholder is a literal text.
  const text = JSON.stringify(entry).replaceAll('$${', '');
  const values: Record<string, string> = {};
  for (const [, name = ''] of text.matchAll(SECRET)) {
    const value = await readSecret(name, { environment, vault: async () => vault });
    if (value !== undefined) values[`secret:${name}`] = value;
  }
  for (const [, name = ''] of text.matchAll(VARIABLE)) {
    const value = environment[name];
    if (value !== undefined) values[name] = value;
  }
  return values;
}
