/** Follows the events of a stage, as a client would. */
import { onTestFinished } from 'vitest';
import type { Stage } from './api-stage.js';

export interface ReceivedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown> & { readonly data: Record<string, unknown> };
}

export interface Following {
  readonly status: number;
  /** Everything received, as text. */
  text(): string;
  events(): ReceivedEvent[];
  isOver(): boolean;
  leave(): void;
}

export async function followEvents(
  stage: Stage,
  { query = '', token = stage.owner, after }: { query?: string; token?: string; after?: string } = {},
): Promise<Following> {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const response = await fetch(`${stage.url}/api/events${query}`, {
    headers: { authorization: `Bearer ${token}`, ...(after !== undefined && { 'last-event-id': after }) },
    signal: abort.signal,
  });
  let text = '';
  let over = false;
  void (async () => {
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
  })()
    .catch(() => {})
    .finally(() => {
      over = true;
    });
  return {
    status: response.status,
    text: () => text,
    events: () => parse(text),
    isOver: () => over,
    leave: () => abort.abort(),
  };
}

function parse(text: string): ReceivedEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map(
      (block) =>
        new Map(block.split('\n').map((line) => [line.split(':')[0], line.slice(line.indexOf(' ') + 1)])),
    )
    .filter((fields) => fields.has('data'))
    .map((fields) => ({
      id: fields.get('id') ?? '',
      event: fields.get('event') ?? '',
      data: JSON.parse(fields.get('data') ?? ''),
    }));
}
