/** Other programs that gather servers behind one address. */
import type { Client } from '../client.js';
export declare const oneMcp: Client;
export declare const mcpProxyGo: Client;
export declare const mcpHub: Client;
export declare const mcporter: Client;
