/** What an adapter needs to know of a tool; every tool of the catalog satisfies it. */
export interface AdaptableTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: unknown;
}

/** What a model is told about a tool before anything is added: its description, else its title. */
export function toolText(tool: AdaptableTool): string {
  return tool.description || tool.title || '';
}
