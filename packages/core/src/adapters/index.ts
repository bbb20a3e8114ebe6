/** The catalog's tools in the shapes of LLM APIs and agent SDKs, and results back in theirs. Pure functions. */
export { toAiSdkModelOutput, toAiSdkTools } from './ai-sdk.js';
export { toAnthropicToolResult, toAnthropicTools } from './anthropic.js';
export { toGeminiFunctionResponse, toGeminiTools } from './gemini.js';
export { toOpenAiFunctionCallOutput, toOpenAiToolMessage, toOpenAiTools } from './openai.js';
export { toToolCall } from './tool-call.js';
export type { AdaptableTool } from './tool-shape.js';
