/** Continue: a list of named servers in YAML, or one file for each in a folder of the project. */
import type { Client } from '../client.js';
export declare const continueDev: Client;
