/** Converts tools and results to the formats of LLM APIs and agent SDKs. Pure functions. */

export type { AdaptableTool } from './adaptable-tool.js';
export { toAiSdkModelOutput, toAiSdkTools } from './ai-sdk.js';
export { toAnthropicToolResult, toAnthropicTools } from './anthropic.js';
export { toGeminiFunctionResponse, toGeminiTools } from './gemini.js';
export { toOpenAiFunctionCallOutput, toOpenAiToolMessage, toOpenAiTools } from './openai.js';
export { toToolCall } from './tool-call.js';
