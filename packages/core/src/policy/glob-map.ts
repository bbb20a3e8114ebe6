/** Lists by globs of names, as `labels` and `requires` of a server have them. Compiled once per map. */
import { compileGlob, type Glob, globCost, MAX_GLOB_STEPS } from '../text/glob.js';
import { wideAddressGlob } from './possible-addresses.js';
import type { RuleSubject } from './rules.js';

/** The same values for everything, or by globs of names. */
export type ListOrMap<Value> = readonly Value[] | GlobMap<Value>;
type GlobMap<Value> = Readonly<Record<string, readonly Value[]>>;

/** The values of all entries that match; undefined: none does. */
export function valuesFor<Value>(
  given: ListOrMap<Value>,
  { tool, kind }: Pick<RuleSubject, 'tool' | 'kind'>,
): readonly Value[] | undefined {
  if (isList(given)) return given;
  let steps = 0;
  const fitting = globsOf(given).filter(({ glob, address, cost }) => {
    steps += cost * tool.length;
    // A doubt raises the guard.
    return (cost > 0 && steps > MAX_GLOB_STEPS) || (kind === 'resource' ? address : glob)(tool);
  });
  return fitting.length === 0 ? undefined : [...new Set(fitting.flatMap(({ key }) => given[key] ?? []))];
}

const isList = <Value>(given: ListOrMap<Value>): given is readonly Value[] => Array.isArray(given);

interface NameGlob {
  readonly key: string;
  readonly glob: Glob;
  /** Resources match however their address is written. */
  readonly address: Glob;
  readonly cost: number;
}

const compiled = new WeakMap<object, readonly NameGlob[]>();

function globsOf(map: GlobMap<unknown>): readonly NameGlob[] {
  const known = compiled.get(map);
  if (known !== undefined) return known;
  const globs = Object.keys(map).map((key) => ({
    key,
    glob: compileGlob(key, { crossSlashes: true }),
    address: wideAddressGlob(key),
    cost: globCost(key),
  }));
  compiled.set(map, globs);
  return globs;
}
