/** Schemas that refer to themselves for the same value: validation would never end. */
import { isRecord } from '../../json/is-record.js';

/** Keywords whose schemas apply to the same value as the schema that contains them. */
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const SINGLES = ['not', 'if', 'then', 'else'];
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/** True if a reference leads back to its start without descending into the value. */
export function hasInfiniteReference(
  root: Readonly<Record<string, unknown>>,
  resolve: (reference: string) => unknown,
): boolean {
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const isEndless = (node: unknown): boolean => {
    if (!isRecord(node) || done.has(node)) return false;
    if (open.has(node)) return true;
    open.add(node);
    const found = sameValueSchemas(node, resolve).some(isEndless);
    open.delete(node);
    done.add(node);
    return found;
  };
  return everySchema(root).some(isEndless);
}

function sameValueSchemas(
  node: Readonly<Record<string, unknown>>,
  resolve: (reference: string) => unknown,
): unknown[] {
  const lists = LISTS.flatMap((key) => (Array.isArray(node[key]) ? node[key] : []));
  const singles = SINGLES.map((key) => node[key]);
  const dependent = isRecord(node.dependentSchemas) ? Object.values(node.dependentSchemas) : [];
  const targets = REFERENCES.flatMap((key) => (typeof node[key] === 'string' ? [resolve(node[key])] : []));
  return [...lists, ...singles, ...dependent, ...targets];
}

/** Every object in a schema: a harmless superset of its subschemas. */
function everySchema(root: object): object[] {
  const all: object[] = [root];
  for (const node of all)
    for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) all.push(child);
  return all;
}
