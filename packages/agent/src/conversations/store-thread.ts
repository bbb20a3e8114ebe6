/** The thread that owns the database of the agent. */
import { serveThread } from '@turnbuckle/store';
import { openAgentStore } from './agent-store.js';

serveThread(openAgentStore);
