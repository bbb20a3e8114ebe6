/** Tools by words. Each word is looked for in each tool: so there are few of them, and others get a turn in between. */
import { TurnbuckleError } from '../errors.js';
import type { Steps } from '../json/slices.js';
import type { CatalogTool } from './tool.js';

/** The longest name of a tool is found by itself. */
const MAX_CHARACTERS = 256;
const MAX_WORDS = 16;

/** The words of a search, each once. ARGUMENTS_INVALID where there are too many of them. */
export function searchWords(search: string): readonly string[] {
  if (search.length > MAX_CHARACTERS)
    throw tooMuch(`${MAX_CHARACTERS} characters at most, this one ${search.length}`);
  const words = new Set(search.toLowerCase().split(/\s+/).filter(Boolean));
  if (words.size > MAX_WORDS) throw tooMuch(`${MAX_WORDS} different words at most, this one ${words.size}`);
  return [...words];
}

/** Those with all these words in name, title or description; without a word, the same array. */
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

const tooMuch = (what: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `A search for tools has ${what}.`, {
    hint: 'Nothing was done. Look for fewer words.',
  });
