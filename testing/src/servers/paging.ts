import type { Page } from '../kernel/behaviour.js';
import { Flags } from '../kernel/flags.js';
import { INVALID_PARAMS, RpcError } from '../kernel/rpc-error.js';
import { serve } from '../serve.js';
import { createTool, toText } from '../tools/tool.js';

// --tools N in pages of --page P. --cursor-mode: normal; cyclic (the last page leads back to the second); endless
// (new pages with new tools, without end); empty-string (the second page has the cursor "").
const flags = new Flags();
const total = flags.number('tools', 25);
const perPage = flags.number('page', 10);
const mode = flags.choice('cursor-mode', ['normal', 'cyclic', 'endless', 'empty-string']);

const tools = Array.from({ length: total }, (_, index) => {
  const name = toName(index);
  return createTool({ name, description: `Tool number ${index + 1}` }, () => toText(name));
});

function toName(index: number): string {
  return `tool_${String(index + 1).padStart(5, '0')}`;
}

function toCursor(start: number): string {
  return mode === 'empty-string' && start === perPage ? '' : `from-${start}`;
}

function toStart(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (mode === 'empty-string' && cursor === '') return perPage;
  const start = /^from-(\d+)$/.exec(cursor)?.[1];
  if (start === undefined) throw new RpcError(INVALID_PARAMS, `unknown cursor ${JSON.stringify(cursor)}`);
  return Number(start);
}

function toPage(cursor: string | undefined): Page {
  const start = toStart(cursor);
  const end = start + perPage;
  if (mode === 'endless') {
    const items = Array.from({ length: perPage }, (_, index) => ({
      name: toName(start + index),
      inputSchema: { type: 'object' },
    }));
    return { items, nextCursor: toCursor(end) };
  }
  const items = tools.slice(start, end).map(({ definition }) => definition);
  if (end < total) return { items, nextCursor: toCursor(end) };
  return mode === 'cyclic' ? { items, nextCursor: toCursor(perPage) } : { items };
}

await serve(
  { name: 'paging', tools, page: (listed, cursor) => (listed === 'tools' ? toPage(cursor) : undefined) },
  { flags },
);
