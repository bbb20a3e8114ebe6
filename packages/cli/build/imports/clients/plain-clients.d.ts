/** Clients whose entries are the usual ones; they differ in where the file is and in a few keys. */
import type { Client } from '../client.js';
export declare const claudeDesktop: Client;
export declare const cursor: Client;
export declare const windsurf: Client;
export declare const cline: Client;
export declare const kiro: Client;
export declare const lmStudio: Client;
export declare const amp: Client;
export declare const crush: Client;
export declare const factory: Client;
export declare const kimi: Client;
export declare const trae: Client;
export declare const qoder: Client;
