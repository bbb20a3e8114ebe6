/** The labels of a tool: from its server's configuration, or else from its annotations. */
import type { Label, ServerConfig } from '../config/schema/schema.js';
import { compileGlob, type Glob } from '../text/glob.js';
import { wideAddressGlob } from './possible-addresses.js';
import type { RuleSubject } from './rules.js';

type Labels = NonNullable<ServerConfig['labels']>;
type LabelMap = Exclude<Labels, readonly unknown[]>;

/** A server cannot remove a label from itself, and neither can a project's file. */
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

/** Undefined: the configuration does not mention this one. */
function configuredFor(labels: Labels, tool: string, isAddress: boolean): readonly Label[] | undefined {
  if (Array.isArray(labels)) return labels;
  const fitting = globsOf(labels).filter(({ glob, address }) => (isAddress ? address : glob)(tool));
  return fitting.length === 0 ? undefined : [...new Set(fitting.flatMap((one) => one.labels))];
}

interface LabelGlob {
  readonly glob: Glob;
  /** Resources match however their address is written. */
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
const OPEN_WORLD: readonly Label[] = ['untrusted', 'outbound'];
const DESTRUCTIVE: readonly Label[] = ['destructive'];
const BOTH: readonly Label[] = [...OPEN_WORLD, ...DESTRUCTIVE];

/**
 * Only explicit annotations count: by the protocol's defaults, every tool without annotations would get all labels.
 */
function claimedBy(hints: RuleSubject['hints']): readonly Label[] {
  if (hints === 'unknown' || hints === undefined) return NONE;
  const { openWorldHint: isOpen = false, destructiveHint: isDestructive = false } = hints;
  if (isOpen) return isDestructive ? BOTH : OPEN_WORLD;
  return isDestructive ? DESTRUCTIVE : NONE;
}
