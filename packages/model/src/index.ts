export { createAiSdkModel } from './ai-sdk-model.js';
export type {
  ChatMessage,
  ChatModel,
  Effort,
  OfferedTool,
  StepOutcome,
  StepRequest,
  ToolCall,
  ToolOutput,
} from './chat-model.js';
export { fillInKey } from './fill-in-key.js';
export { DATA_RULE, markData } from './mark-data.js';
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from './scripted-server.js';
