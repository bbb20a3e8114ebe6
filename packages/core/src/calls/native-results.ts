/**
 * The results of native tools. Lists come in pages, and large results hold a reservation until they are written:
 * however many are requested, a limited amount is in memory.
 */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { weighEntry } from '../catalog/list-budget.js';
import type { NativeContext } from '../catalog/native.js';
import { TurnbuckleError } from '../errors.js';
import { estimateJsonMemory } from '../json/estimate-memory.js';
import { isRecord } from '../json/is-record.js';
import { writeJson } from '../json/lossless-json.js';
import { type MemoryRequest, type MemoryReservation, memoryBudget } from '../json/memory-budget.js';
import { inSlices, type Steps } from '../json/slices.js';
import { writeInSlices } from '../json/write-large.js';
import { identityOf } from '../policy/capabilities.js';
import { CallClock } from '../resilience/call-clock.js';

/** The weight of the entries of one page: about the length of their JSON. A single entry may exceed it. */
const MAX_PAGE_WEIGHT = 256 * 1_024;
/** The most that the value of such a page takes, with its text and the response that both are written to. */
const MAX_PAGE_BYTES = 12 * MAX_PAGE_WEIGHT;
/** Results up to this length are not counted. */
const SMALL_TEXT_LENGTH = 32 * 1_024;
/** Bytes for each character of a text that is escaped, and repeated in a response. */
const BYTES_PER_CHARACTER = 6;

/** Lists by the name that they have in the result, in the order in which they are paged. */
export type PagedLists<Item> = Readonly<Record<string, readonly Item[]>>;

export interface PageFormat<Item> {
  /** What makes up the size of the entry. */
  readonly weigh: (item: Item) => unknown;
  /** Called only for the items of the page. */
  readonly toEntry: (item: Item) => Steps<unknown>;
}

export type NativeResult = CallToolResult & { content: Array<{ type: 'text'; text: string }> };

/** Builds the results of one call, for its caller and within its time. */
export class NativeResults {
  readonly #context: NativeContext;
  readonly #clock: CallClock;

  constructor(context: NativeContext) {
    this.#context = context;
    this.#clock = new CallClock(context.nested ?? {});
  }

  /** The page that starts at the cursor. Throws ARGUMENTS_INVALID and OVERLOADED. */
  async page<Item>(
    lists: PagedLists<Item>,
    cursor: unknown,
    format: PageFormat<Item>,
  ): Promise<NativeResult> {
    const start = positionOf(cursor);
    const room = await this.#reserve({ length: MAX_PAGE_WEIGHT, bytes: MAX_PAGE_BYTES });
    try {
      const result = await inSlices(pageSteps(lists, start, format));
      room.shrinkTo(await estimateBytes(result));
      room.attachTo(result);
      return result;
    } catch (thrown) {
      room.release();
      throw thrown;
    }
  }

  /** The value as it is. Throws OVERLOADED. */
  async whole(value: unknown): Promise<NativeResult> {
    const text = typeof value === 'string' ? value : ((await writeInSlices(value)) ?? '');
    const result = toResult(text, value);
    if (text.length <= SMALL_TEXT_LENGTH) return result;
    const room = await this.#reserve({ length: text.length, bytes: await estimateBytes(result) });
    room.attachTo(result);
    return result;
  }

  async #reserve(wish: Omit<MemoryRequest, 'owner'>): Promise<MemoryReservation> {
    const { caller, signal } = this.#context;
    const owner = caller === undefined ? 'host' : `caller ${identityOf(caller)}`;
    const reserving = memoryBudget.reserve({ ...wish, owner });
    try {
      const room = await this.#clock.until(reserving, { what: 'memory for the result', begun: true, signal });
      if (room !== undefined) return room;
    } catch (thrown) {
      void reserving.then((late) => late?.release());
      throw thrown;
    }
    throw tooManyResults();
  }
}

/** Only entries of the page are made and written: the lists can be much longer. */
function* pageSteps<Item>(
  lists: PagedLists<Item>,
  start: number,
  { weigh, toEntry }: PageFormat<Item>,
): Steps<NativeResult> {
  const value: Record<string, unknown> = {};
  const texts: string[] = [];
  let before = 0;
  let left = MAX_PAGE_WEIGHT;
  let next: number | undefined;
  for (const [name, items] of Object.entries(lists)) {
    const shown: unknown[] = [];
    const shownTexts: string[] = [];
    for (let at = Math.max(start - before, 0); at < items.length && next === undefined; at += 1) {
      const item = items[at] as Item;
      const weight = weighEntry(weigh(item), MAX_PAGE_WEIGHT);
      if (weight > left && left < MAX_PAGE_WEIGHT) next = before + at;
      else {
        left -= weight;
        const entry = yield* toEntry(item);
        shown.push(entry);
        shownTexts.push(writeJson(entry));
      }
      yield;
    }
    before += items.length;
    value[name] = shown;
    texts.push(`${JSON.stringify(name)}:[${shownTexts.join(',')}]`);
  }
  if (next !== undefined) {
    value.nextCursor = String(next);
    texts.push(`"nextCursor":"${next}"`);
  }
  return toResult(`{${texts.join(',')}}`, value);
}

const toResult = (text: string, value: unknown): NativeResult => ({
  content: [{ type: 'text', text }],
  ...(isRecord(value) && { structuredContent: value }),
});

async function estimateBytes({ content }: NativeResult): Promise<number> {
  const text = content[0]?.text ?? '';
  return (await estimateJsonMemory(text)) + text.length * BYTES_PER_CHARACTER;
}

/** A cursor is the number of entries before its page. */
function positionOf(cursor: unknown): number {
  if (cursor === undefined) return 0;
  if (typeof cursor === 'string' && /^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new TurnbuckleError('ARGUMENTS_INVALID', 'Invalid cursor: this tool did not return it.', {
    hint: 'Send the nextCursor from the previous page unchanged, or omit the cursor for the first page.',
  });
}

const tooManyResults = (): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    'The result was not built because too many large results are already in memory.',
    { hint: 'Make fewer requests at a time, or name a server.', data: { retryAfterMs: 1_000 } },
  );
