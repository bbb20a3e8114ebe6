/** A tool as a TypeScript signature, for people and models that read those best. */
import type { CatalogTool } from 'turnbuckle';
export declare function toSignature({ tool, description, inputSchema, outputSchema }: CatalogTool): string;
