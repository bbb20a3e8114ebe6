export {
  type AdaptableTool,
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
export type { CallOptions, CallRequest } from './call.js';
export type { NativeTool } from './catalog/native.js';
export type { CatalogTool } from './catalog/tool.js';
export { editConfig, editServers, type ServerEdit } from './config/edit/config-editor.js';
export { setKey } from './config/edit/edit-servers.js';
export { jsonSchema } from './config/json-schema.js';
export type { ConfiguredServer, LoadedConfig } from './config/load.js';
export type { ServerConfig, ServerInput, ServersInput } from './config/schema.js';
export type { TrustStore } from './config/trust.js';
export {
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
  loadConfiguration,
  type Reload,
} from './configured-runtime.js';
export type { ServerRequestAnswers } from './connection/input-rounds.js';
export { createRuntime } from './create-runtime.js';
export { ERRORS, type ErrorCode, TurnbuckleError } from './errors.js';
export type { RuntimeEvents } from './events.js';
export type { Execution } from './execution.js';
export type { ApprovalRequest, Approve } from './policy/approve.js';
export type { Caller } from './policy/capabilities.js';
export { preload } from './preload.js';
export type { Runtime } from './runtime.js';
export type { RuntimeOptions } from './runtime-options.js';
export type { SetServersResult } from './server-set.js';
export type { ServerStatus } from './status.js';
