/**
 * Searches tools by words. Each word is searched in each tool, so their number is limited, and the search yields in
 * between.
 */
import { TurnbuckleError } from '../errors.js';
import type { Steps } from '../json/slices.js';
import type { CatalogTool } from './tool.js';

/** Enough for the longest name of a tool. */
const MAX_QUERY_CHARACTERS = 256;
const MAX_QUERY_WORDS = 16;

/** The distinct words of a search. Throws ARGUMENTS_INVALID if there are too many. */
export function searchWords(search: string): readonly string[] {
  if (search.length > MAX_QUERY_CHARACTERS)
    throw queryTooLong(`${search.length} characters, maximum ${MAX_QUERY_CHARACTERS}`);
  const words = new Set(search.toLowerCase().split(/\s+/).filter(Boolean));
  if (words.size > MAX_QUERY_WORDS)
    throw queryTooLong(`${words.size} different words, maximum ${MAX_QUERY_WORDS}`);
  return [...words];
}

/** The tools with all words in name, title or description; without words, the same array. */
export function* searchSteps(
  tools: readonly CatalogTool[],
  words: readonly string[],
): Steps<readonly CatalogTool[]> {
  if (words.length === 0) return tools;
  const found: CatalogTool[] = [];
  for (const tool of tools) {
    const { name, title = '', description = '' } = tool;
    const text = `${name} ${title} ${description}`.toLowerCase();
    if (yield* hasAll(text, words)) found.push(tool);
  }
  return found;
}

function* hasAll(text: string, words: readonly string[]): Steps<boolean> {
  for (const word of words) {
    yield;
    if (!text.includes(word)) return false;
  }
  return true;
}

const queryTooLong = (what: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `The search query is too long: ${what}.`, {
    hint: 'Search for fewer words.',
  });
