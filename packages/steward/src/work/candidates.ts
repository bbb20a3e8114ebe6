/** Candidates of a search as they are shown: bounded, and with what would happen if one of them were added. */
import { showLine } from 'turnbuckle/host';
import type { Candidate } from '../registry/ranking.js';

export interface ShownCandidate {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version: string;
  /** How it can be had: `npm`, `pypi`, `oci`, `mcpb`, `remote`. */
  readonly kinds: readonly string[];
  readonly verified: boolean;
  readonly reasons: readonly string[];
  /** What this machine lacks for it. */
  readonly missing: readonly string[];
}

const MAX_TEXT = 300;

/** Texts of a registry are untrusted. */
export function toShownCandidate({ record, reasons, missing, verified }: Candidate): ShownCandidate {
  const { name, title, description, version, packages, remotes } = record;
  const kinds = [
    ...packages.map(({ registryType }) => String(registryType)),
    ...(remotes.length > 0 ? ['remote'] : []),
  ];
  return {
    name,
    ...(title !== undefined && { title: showLine(title, MAX_TEXT) }),
    description: showLine(description, MAX_TEXT),
    version,
    kinds: [...new Set(kinds)],
    verified,
    reasons: reasons.map((reason) => showLine(reason, MAX_TEXT)),
    missing: missing.map((one) => showLine(one, MAX_TEXT)),
  };
}
