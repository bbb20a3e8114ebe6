/** Codex: tables in TOML; values from the environment have keys of their own instead of placeholders. */
import type { Client } from '../client.js';
export declare const codex: Client;
