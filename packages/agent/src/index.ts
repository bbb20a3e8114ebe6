export { DEMO_MODEL, startDemoModel } from './daemon/demo-model.js';
export { type AgentPartOptions, createAgentPart } from './daemon/part.js';
export type { StewardLink, StewardNews } from './loop/steward-link.js';
