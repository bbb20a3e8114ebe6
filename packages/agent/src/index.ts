export { type AgentPartOptions, createAgentPart } from './daemon/part.js';
export type { StewardLink, StewardNews } from './loop/steward-link.js';
export type { ChatModel, StepOutcome, StepRequest } from './model/chat-model.js';
export { DEMO_MODEL, startDemoModel } from './model/demo-model.js';
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from './model/scripted-server.js';
