/** VS Code: `servers` beside `inputs`, which are asked for once and kept by the editor. */
import type { Client } from '../client.js';
import type { ImportedInput } from '../imported-server.js';
export declare const vscode: Client;
/** What the file asks its user for; entries without an id are of no use. */
export declare function readInputs(root: unknown): ImportedInput[];
