/** What a tool brings into a run or takes out of it: by its server's configuration, else by what it says itself. */
import type { Label, ServerConfig } from '../config/schema.js';
import { wideAddressGlob } from './address.js';
import { compileGlob, type Glob } from './glob.js';
import type { RuleSubject } from './rules.js';

type Labels = NonNullable<ServerConfig['labels']>;
type LabelMap = Exclude<Labels, readonly unknown[]>;

/** Of something at a server. A server cannot talk itself out of a label, and a project's file neither. */
export function labelsOf(
  config: Pick<ServerConfig, 'labels' | 'scope'> | undefined,
  { tool, kind, hints }: Pick<RuleSubject, 'tool' | 'kind' | 'hints'>,
): readonly Label[] {
  const configured =
    config?.labels === undefined ? undefined : configuredFor(config.labels, tool, kind === 'resource');
  if (configured !== undefined && config?.scope !== 'project' && config?.scope !== 'local') return configured;
  const claimed = claimedBy(hints);
  return configured === undefined ? claimed : [...new Set([...configured, ...claimed])];
}

/** Undefined: nothing is said about this one. */
function configuredFor(labels: Labels, tool: string, isAddress: boolean): readonly Label[] | undefined {
  if (Array.isArray(labels)) return labels;
  const fitting = globsOf(labels).filter(({ glob, address }) => (isAddress ? address : glob)(tool));
  return fitting.length === 0 ? undefined : [...new Set(fitting.flatMap((one) => one.labels))];
}

interface LabelGlob {
  readonly glob: Glob;
  /** Of resources: however the address is written. */
  readonly address: Glob;
  readonly labels: readonly Label[];
}

const compiled = new WeakMap<LabelMap, readonly LabelGlob[]>();

function globsOf(map: LabelMap): readonly LabelGlob[] {
  const known = compiled.get(map);
  if (known !== undefined) return known;
  const globs = Object.entries(map).map(([pattern, labels]) => ({
    glob: compileGlob(pattern, { crossSlashes: true }),
    address: wideAddressGlob(pattern),
    labels,
  }));
  compiled.set(map, globs);
  return globs;
}

const NONE: readonly Label[] = [];
const OPEN: readonly Label[] = ['untrusted', 'outbound'];
const DESTRUCTIVE: readonly Label[] = ['destructive'];
const BOTH: readonly Label[] = [...OPEN, ...DESTRUCTIVE];

/** Only what it says outright: by the protocol's defaults every tool that says nothing would be all of it. */
function claimedBy(hints: RuleSubject['hints']): readonly Label[] {
  if (hints === 'unknown' || hints === undefined) return NONE;
  const { openWorldHint: isOpen = false, destructiveHint: isDestructive = false } = hints;
  if (isOpen) return isDestructive ? BOTH : OPEN;
  return isDestructive ? DESTRUCTIVE : NONE;
}
