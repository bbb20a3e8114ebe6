import type { CatalogTool } from 'turnbuckle';
import type { Steps } from 'turnbuckle/host';

const CHARACTERS_PER_TOKEN = 4;

/** What a list of tools costs a model that is shown it, in tokens, about: four characters of JSON are one. */
export function* estimateTokens(
  tools: readonly Pick<CatalogTool, 'name' | 'description' | 'inputSchema'>[],
): Steps<number> {
  let characters = 0;
  for (const { name, description, inputSchema } of tools) {
    characters += JSON.stringify({ name, description, input_schema: inputSchema }).length;
    yield;
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
