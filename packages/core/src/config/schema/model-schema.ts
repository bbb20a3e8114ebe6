/** A language model, of the agent or the steward. */
import * as z from 'zod/mini';

const PROVIDERS = ['openai-compatible', 'anthropic'] as const;

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));

export const MODEL_SCHEMA = z.strictObject({
  provider: z.enum(PROVIDERS),
  /** Required for `openai-compatible`, such as http://127.0.0.1:11434/v1. */
  baseUrl: z.optional(text(2_048)),
  model: text(200),
  /** Used when energy is low; absent: the same model with shorter answers. */
  smallModel: z.optional(text(200)),
  /** A placeholder such as ${secret:model} or ${MODEL_KEY}. */
  apiKey: z.optional(text(4_096)),
});

export type ModelSettings = z.output<typeof MODEL_SCHEMA>;
