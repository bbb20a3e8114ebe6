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
export type { SignInMethod, SignInPage, SignInPrompts } from './auth/sign-in-prompts.js';
export { createVault, type Vault } from './auth/vault.js';
export type { DecisionRequest } from './call-guard.js';
export { type CallOptions, type CallRequest, MAX_NAME, type ReadRequest } from './call-request.js';
export {
  Cancellation,
  type CancelSignal,
  offAbort,
  onAbort,
} from './cancel-signal.js';
export type { CatalogItem } from './catalog/catalog.js';
export { FLAGS } from './catalog/flags.js';
export type { NativeTool } from './catalog/native.js';
export type { CatalogTool } from './catalog/tool.js';
export type { DaemonSettings } from './config/daemon-schema.js';
export { dangersOf } from './config/dangers.js';
export { editConfig, editServers, type ServerEdit } from './config/edit/config-editor.js';
export { setKey, setServer } from './config/edit/edit-servers.js';
export { makeDirectory } from './config/edit/make-directory.js';
export { homeDirectory } from './config/home-directory.js';
export { jsonSchema } from './config/json-schema.js';
export type { ConfiguredServer, LoadedConfig } from './config/loaded-config.js';
export { readFileText, whyUnreadable } from './config/read-file.js';
export { redactConfig } from './config/redact.js';
export { relativeWords } from './config/relative-words.js';
export type { PlacedRule, Rule } from './config/rule-schema.js';
export type { ServerConfig, ServerInput, ServersInput } from './config/schema.js';
export type { TrustStore } from './config/trust.js';
export {
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
  loadConfiguration,
  type Reload,
} from './configured-runtime.js';
export type { Progress } from './connection/lane.js';
export { scanHeaderParameters } from './connection/mcp-headers.js';
export type { Respondent } from './connection/respondents.js';
export { checkSandbox } from './connection/sandbox/support.js';
export type {
  ElicitationRequest,
  RootsRequest,
  SamplingRequest,
  ServerRequestAnswers,
} from './connection/server-requests.js';
export { createRuntime } from './create-runtime.js';
export { ERRORS, type ErrorCode, TurnbuckleError, toTurnbuckleError } from './errors.js';
export type { RuntimeEvents } from './events.js';
export type { Execution } from './execution.js';
export { GrowingBuffer } from './fetching/growing-buffer.js';
export { createGuardedFetch } from './fetching/guarded-fetch.js';
export { openBrowser } from './fetching/open-browser.js';
export { writeShown } from './json/exact-number.js';
export { shortened } from './json/shortened.js';
export { inSlices, type Steps } from './json/slices.js';
export {
  exactInteger,
  keepSpelling,
  keepSpellingOfCopy,
  parseInSlices,
  parseStrictly,
  spelled,
  writeJson,
} from './json/spelling.js';
export { weighJson } from './json/weigh-json.js';
export { firstKeys, wideMembers } from './json/wide-objects.js';
export { writeInSlices } from './json/write-large.js';
export { createRedactor, type Redactor } from './observe/redact.js';
export type { Permit } from './permit.js';
export type { PinStatus } from './pins.js';
export type { ApprovalAnswer, ApprovalRequest, Approve } from './policy/approval-request.js';
export { type Caller, callerKey, identityOf } from './policy/capabilities.js';
export type { Decision } from './policy/decide.js';
export type { Explanation } from './policy/explain.js';
export { preload } from './preload.js';
export type { Runtime } from './runtime.js';
export type { RuntimeOptions } from './runtime-options.js';
export type { SetServersResult } from './server-set.js';
export type { SignInRequest, SignInStatus } from './sign-ins.js';
export { defaultStateDirectory } from './state-directory.js';
export type { ServerStatus } from './status.js';
export { escapeHidden, findHidden, showLine, showText } from './text/hidden.js';
