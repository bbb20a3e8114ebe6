/** Mistral Vibe: a list of tables in TOML; a key from the environment is described in three keys. */
import type { Client } from '../client.js';
export declare const vibe: Client;
