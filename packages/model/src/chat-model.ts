/** The seam to a model: one step, from messages and tools to a text and tool calls. */

export interface ToolCall {
  /** Chosen by the model: unique within a step only. */
  readonly id: string;
  readonly name: string;
  /** Untrusted: anything that the model wrote. */
  readonly input: unknown;
}

export interface ToolOutput {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export type ChatMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly outputs: readonly ToolOutput[] };

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** How much effort a step may take. */
export interface Effort {
  readonly size: 'full' | 'small';
  readonly maxOutputTokens: number;
}

export interface StepRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly OfferedTool[];
  readonly effort: Effort;
  readonly signal: AbortSignal;
}

export interface StepOutcome {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly ms: number;
}

export interface ChatModel {
  /** Rejects with a TurnbuckleError. */
  step(request: StepRequest): Promise<StepOutcome>;
}
