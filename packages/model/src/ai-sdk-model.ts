/** Models through the AI SDK: any OpenAI-compatible server, and Anthropic. The SDK is loaded with the first step. */
import type { LanguageModel, ModelMessage, ToolSet } from 'ai';
import { TurnbuckleError } from 'turnbuckle';
import type { ModelSettings } from 'turnbuckle/host';
import { createBoundedFetch } from './bounded-fetch.js';
import type { ChatMessage, ChatModel, Effort, OfferedTool, StepOutcome, StepRequest } from './chat-model.js';
import { toModelError } from './model-error.js';

export interface AiSdkModelOptions {
  readonly settings: ModelSettings;
  /** Where the settings are in the config file, such as `agent.model`, for messages. */
  readonly key: string;
  /** The key with its placeholders filled in; called once, until it succeeds. */
  readonly apiKey: () => Promise<string | undefined>;
  readonly timeoutMs: number;
  /** A clock that nobody can set, in milliseconds. */
  readonly now?: (() => number) | undefined;
}

const OK = 200;

type ModelOf = (name: string) => LanguageModel;

export function createAiSdkModel(options: AiSdkModelOptions): ChatModel {
  const { settings, key, timeoutMs, now = () => performance.now() } = options;
  let provider: Promise<ModelOf> | undefined;
  const open = (): Promise<ModelOf> => {
    provider ??= openProvider(options).catch((error: unknown) => {
      provider = undefined;
      throw error;
    });
    return provider;
  };
  return {
    step: async (request) => {
      const modelOf = await open();
      const started = now();
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const outcome = await generate(modelOf(nameOf(settings, request.effort)), request, timeout);
        return { ...outcome, ms: Math.max(now() - started, 0) };
      } catch (error) {
        request.signal.throwIfAborted();
        const { APICallError } = await import('ai');
        // Another error is one of reading a response.
        const status = APICallError.isInstance(error) ? error.statusCode : OK;
        throw toModelError({ error, key, place: placeOf(settings), status, isTimeout: timeout.aborted });
      }
    },
  };
}

const nameOf = ({ model, smallModel }: ModelSettings, { size }: Effort): string =>
  size === 'small' ? (smallModel ?? model) : model;

/** Without a user name or a query, which can be secret. */
function placeOf({ provider, baseUrl }: ModelSettings): string {
  if (baseUrl === undefined) return provider;
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : 'an invalid baseUrl';
}

async function openProvider({ settings, key: setting, apiKey }: AiSdkModelOptions): Promise<ModelOf> {
  const { provider, baseUrl } = settings;
  const key = await apiKey();
  const fetch = createBoundedFetch();
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    // Without this, the SDK would read a key from the environment that nobody configured.
    return createAnthropic({ apiKey: key ?? '', fetch, ...(baseUrl !== undefined && { baseURL: baseUrl }) });
  }
  if (baseUrl === undefined)
    throw new TurnbuckleError('CONFIG_INVALID', `${setting} has no baseUrl.`, {
      hint: `Set ${setting}.baseUrl in your config file, such as http://127.0.0.1:11434/v1 for Ollama.`,
    });
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: 'model',
    baseURL: baseUrl,
    fetch,
    ...(key !== undefined && { apiKey: key }),
  });
}

async function generate(
  model: LanguageModel,
  { messages, tools, effort, signal }: StepRequest,
  timeout: AbortSignal,
): Promise<Omit<StepOutcome, 'ms'>> {
  // The SDK would write its warnings to the console of the daemon.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { generateText, jsonSchema, tool } = await import('ai');
  const toTool = ({ description, inputSchema }: OfferedTool) =>
    tool({ description, inputSchema: jsonSchema(inputSchema) });
  const { text, toolCalls, usage } = await generateText({
    model,
    system: messages.flatMap((one) => (one.role === 'system' ? [one.text] : [])).join('\n'),
    messages: messages.flatMap((one) => (one.role === 'system' ? [] : toModelMessage(one))),
    tools: Object.fromEntries(tools.map((one) => [one.name, toTool(one)])) as ToolSet,
    maxOutputTokens: effort.maxOutputTokens,
    // The loop decides when to try again: each attempt costs energy.
    maxRetries: 0,
    abortSignal: AbortSignal.any([signal, timeout]),
  });
  return {
    text,
    toolCalls: toolCalls.map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      input,
    })),
    usage: { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 },
  };
}

function toModelMessage(message: Exclude<ChatMessage, { role: 'system' }>): ModelMessage {
  if (message.role === 'user') return { role: 'user', content: message.text };
  if (message.role === 'tool')
    return {
      role: 'tool',
      content: message.outputs.map(({ id, name, text }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: name,
        output: { type: 'text', value: text },
      })),
    };
  const { text, toolCalls } = message;
  return {
    role: 'assistant',
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...toolCalls.map(({ id, name, input }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input: input ?? {},
      })),
    ],
  };
}
