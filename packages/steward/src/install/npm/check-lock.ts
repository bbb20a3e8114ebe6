/** Checks the lock file that npm wrote: every package is from the registry, with its integrity, and not known as bad. Pure. */
import * as z from 'zod/mini';
import { type Advisory, findAdvisories } from '../advisories.js';
import { packageRefused } from '../refusal.js';

const entry = z.object({
  name: z.optional(z.string()),
  version: z.optional(z.string()),
  resolved: z.optional(z.string()),
  integrity: z.optional(z.string()),
  link: z.optional(z.boolean()),
  inBundle: z.optional(z.boolean()),
});

const lockShape = z.object({ lockfileVersion: z.number(), packages: z.record(z.string(), entry) });

export interface LockRules {
  readonly identifier: string;
  readonly version: string;
  /** The approved one. */
  readonly integrity: string;
  /** The address that every file has to come from. */
  readonly source: string;
  readonly advisories: readonly Advisory[];
}

const MAX_PACKAGES = 3_000;

/** Throws FETCH_REFUSED. */
export function checkLock(text: string, rules: LockRules): void {
  const parsed = lockShape.safeParse(JSON.parse(text));
  if (!parsed.success) throw packageRefused('npm wrote an invalid lock file.');
  const { packages } = parsed.data;
  const places = Object.keys(packages).filter((place) => place !== '');
  if (places.length > MAX_PACKAGES)
    throw packageRefused(`The package has more than ${MAX_PACKAGES} dependencies.`);
  for (const place of places) checkEntry(place, packages[place] ?? {}, rules);
  const own = packages[`node_modules/${rules.identifier}`];
  if (own?.version !== rules.version || own.integrity !== rules.integrity)
    throw packageRefused(`${rules.identifier} ${rules.version} does not match the approved integrity hash.`);
}

function checkEntry(place: string, one: z.output<typeof entry>, rules: LockRules): void {
  const { resolved = '', integrity = '', link, inBundle, version = '' } = one;
  const name = one.name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  if (!place.startsWith('node_modules/') || place.split('/').includes('..') || link === true)
    throw packageRefused(
      `The dependency ${name} is a file or directory on this machine, not a package from the registry.`,
    );
  // A bundled one is a part of the file that contains it.
  if (inBundle !== true && (!resolved.startsWith(rules.source) || !/^sha(512|384|256|1)-/.test(integrity)))
    throw packageRefused(`The dependency ${name} does not come from the registry, or has no integrity hash.`);
  const bad = findAdvisories(rules.advisories, { type: 'npm', identifier: name, version }).find(
    ({ level }) => level === 'refuse',
  );
  if (bad !== undefined)
    throw packageRefused(`The dependency ${name} ${version} is refused: ${bad.text} (${bad.id}).`);
}
