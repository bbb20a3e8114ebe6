import type { CatalogTool } from 'turnbuckle';

const CHARACTERS_PER_TOKEN = 4;

/** What a list of tools costs a model that is shown it, in tokens, about: four characters of JSON are one. */
export function estimateTokens(
  tools: readonly Pick<CatalogTool, 'name' | 'description' | 'inputSchema'>[],
): number {
  const characters = tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + JSON.stringify({ name, description, input_schema: inputSchema }).length,
    0,
  );
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
