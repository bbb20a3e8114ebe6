/** What a pin stores of a definition: its fingerprint, and as much of the definition itself as there is room for. */
import { FINGERPRINTED_FIELDS } from '../catalog/definition-diff.js';
import { fingerprint, fingerprintedLength } from '../catalog/fingerprint.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { Pin } from './pin-store.js';

export type PinnedDefinition = Pick<Pin, 'hash' | 'definition'>;

/** Larger definitions are pinned by their hash alone. */
const MAX_DEFINITION_LENGTH = 65_536;

/**
 * For one definition after the other. Once those that were kept reach the length, further ones are pinned by hash alone: the
 * pin file is read and written as a whole.
 */
export function createDefinitionPins(
  maxTotalLength: number,
): (definition: CatalogTool['definition']) => PinnedDefinition {
  let together = 0;
  return (definition) => {
    const hash = fingerprint(definition);
    const length = fingerprintedLength(definition);
    if (length > MAX_DEFINITION_LENGTH || together + length > maxTotalLength) return { hash };
    together += length;
    return { hash, definition: pickFingerprinted(definition) };
  };
}

const pickFingerprinted = (definition: CatalogTool['definition']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    FINGERPRINTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  );
