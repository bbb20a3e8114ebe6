/** Servers that a search found, as a table. All of it is text of registries. */
import type { ShownCandidate } from '@turnbuckle/steward';
import type { Output } from '../terminal/output.js';
import { textTable } from '../terminal/text-table.js';
import { showFullLine, showLine } from '../terminal/untrusted-text.js';

export function showCandidates(candidates: readonly ShownCandidate[], output: Output): void {
  const { color, width } = output;
  // A column that is empty in most searches takes no room in them.
  const hasMissing = candidates.some(({ missing }) => missing.length > 0);
  const head = ['name', 'version', 'kind', 'verified', ...(hasMissing ? ['missing'] : []), 'description'];
  const rows = candidates.map(({ name, version, kinds, verified, missing, description }) => [
    // Whole: it is what has to be typed.
    showFullLine(name),
    showLine(version, 20),
    showLine(kinds.join(', '), 30),
    verified ? 'yes' : 'no',
    ...(hasMissing ? [showLine(missing.join(', '), 30)] : []),
    showLine(description, 300),
  ]);
  const table = [head.map((word) => color.dim(word)), ...rows];
  for (const line of textTable(table, { width, uncutColumns: [0] })) output.line(line);
}
