/**
 * Claude Code: one file holds the user's servers and those of single folders; shared files of a project need a
 * person's approval, which is kept elsewhere.
 */
import type { Client } from '../client.js';
export declare const claudeCode: Client;
/** Sub-agents carry servers in the head of their file: a name refers to one, a map is one. */
export declare const claudeAgents: Client;
