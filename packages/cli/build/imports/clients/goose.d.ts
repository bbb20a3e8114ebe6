/** goose: extensions in YAML, with its own words for commands, addresses and secrets. */
import type { Client } from '../client.js';
export declare const goose: Client;
