/** The catalog's tools in the shapes of LLM APIs and agent SDKs, and results back in theirs. Pure functions. */
export {
  type AiSdkContent,
  type AiSdkModelOutput,
  type AiSdkSchema,
  type AiSdkTool,
  type ExecuteTool,
  toAiSdkModelOutput,
  toAiSdkTools,
} from './ai-sdk.js';
export { type AnthropicTool, toAnthropicToolResult, toAnthropicTools } from './anthropic.js';
export {
  type GeminiFunctionDeclaration,
  type GeminiTool,
  toGeminiFunctionResponse,
  toGeminiTools,
} from './gemini.js';
export {
  type OpenAiChatTool,
  type OpenAiFunction,
  type OpenAiResponsesTool,
  type OpenAiToolsOptions,
  toOpenAiFunctionCallOutput,
  toOpenAiToolMessage,
  toOpenAiTools,
} from './openai.js';
export { type ToolCall, toToolCall } from './tool-call.js';
export type { AdaptableTool } from './tool-shape.js';
