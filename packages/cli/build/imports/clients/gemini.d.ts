/** Gemini CLI and Antigravity: addresses are named after their transport, switches are lists of names. */
import type { Client } from '../client.js';
export declare const gemini: Client;
export declare const antigravity: Client;
