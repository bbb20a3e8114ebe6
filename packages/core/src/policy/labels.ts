/** The labels of a tool: from its server's configuration, or else from its annotations. */
import type { Label, ServerConfig } from '../config/schema/schema.js';
import { valuesFor } from './glob-map.js';
import type { RuleSubject } from './rules.js';

/** A server cannot remove a label from itself, and neither can a project's file. */
export function labelsOf(
  config: Pick<ServerConfig, 'labels' | 'scope'> | undefined,
  { tool, kind, hints }: Pick<RuleSubject, 'tool' | 'kind' | 'hints'>,
): readonly Label[] {
  const configured = config?.labels === undefined ? undefined : valuesFor(config.labels, { tool, kind });
  if (configured !== undefined && config?.scope !== 'project' && config?.scope !== 'local') return configured;
  const claimed = claimedBy(hints);
  return configured === undefined ? claimed : [...new Set([...configured, ...claimed])];
}

/** The same at a server that a request names: whoever named the address can read what is sent to it. */
export function inlineLabelsOf(
  config: Pick<ServerConfig, 'labels' | 'scope' | 'type'> | undefined,
  subject: Pick<RuleSubject, 'tool' | 'kind' | 'hints'>,
): readonly Label[] {
  const labels = labelsOf(config, subject);
  return config?.type === 'stdio' || labels.includes('outbound') ? labels : [...labels, 'outbound'];
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
