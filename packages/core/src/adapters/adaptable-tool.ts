/** What an adapter needs from a tool; every tool of the catalog has it. */
export interface AdaptableTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: unknown;
}

/** The text about a tool for a model: its description, else its title. */
export function toolText(tool: AdaptableTool): string {
  return tool.description || tool.title || '';
}
