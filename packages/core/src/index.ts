/** What the author of an agent needs. What programs that host a runtime need beside it is in `turnbuckle/host`. */
export {
  toAiSdkModelOutput,
  toAiSdkTools,
  toAnthropicToolResult,
  toAnthropicTools,
  toGeminiFunctionResponse,
  toGeminiTools,
  toOpenAiFunctionCallOutput,
  toOpenAiToolMessage,
  toOpenAiTools,
  toToolCall,
} from './adapters/index.js';
export type { ApprovalAnswer, ApprovalRequest, Approve } from './approvals/approval-request.js';
export type { SignInPrompts } from './auth/sign-in-prompts.js';
export type { CallOptions, CallRequest } from './calls/call-request.js';
export type { Execution } from './calls/execution.js';
export type { NativeTool } from './catalog/native.js';
export type { CatalogTool } from './catalog/tool.js';
export type { Rule } from './config/schema/rule-schema.js';
export type { ServerInput } from './config/schema/schema.js';
export type { Progress } from './connection/lanes/lane.js';
export type { ServerRequestAnswers } from './connection/server-requests/host-requests.js';
export { type ErrorCode, TurnbuckleError } from './errors.js';
export type { RuntimeEvents } from './events.js';
export type { Caller } from './policy/capabilities.js';
export type { Decision } from './policy/decide.js';
export {
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
} from './runtime/configured.js';
export { createRuntime } from './runtime/create.js';
export type { RuntimeOptions } from './runtime/options.js';
export type { Runtime } from './runtime/runtime.js';
export type { ServerStatus } from './servers/server-status.js';
