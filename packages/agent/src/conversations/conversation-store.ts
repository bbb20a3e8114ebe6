/**
 * Conversations, messages, calls and energy in the database: synchronous, for the thread that owns it. Every method that
 * changes something is one transaction, so that a process that dies leaves no half of a step.
 */
import type { Row, Value, WorkDatabase } from '@turnbuckle/store';
import type { EnergyState, RegulatorSettings } from 'turnbuckle/light';
import { type Consumption, EnergyLedger, type EnergyTotals } from '../energy/ledger.js';
import {
  type Conversation,
  createConversation,
  type StepChange,
  withEnd,
  withNote,
  withSettledCall,
  withStep,
  withUserMessage,
} from './conversation.js';
import {
  type MessageContent,
  type StoredCall,
  type StoredMessage,
  toShown,
  VISIBLE_KINDS,
} from './message.js';
import type { AddedMessage, ListFilter, NewMessage, SettledCall, StewardNote } from './store-data.js';
import { toCall, toConversation, toMessage } from './stored-rows.js';

export interface CommittedStep {
  readonly conversation: string;
  readonly messages: readonly MessageContent[];
  /** The calls of the step message, which is the first one. */
  readonly calls: ReadonlyArray<Pick<StoredCall, 'id' | 'modelId' | 'tool'>>;
  readonly change: Omit<StepChange, 'isOvertakenBy'>;
  /** The number of the last message that the step could see. */
  readonly seen: number;
  readonly energy: Consumption;
}

export interface History {
  readonly conversation: Conversation;
  /** The latest ones, in order. */
  readonly messages: readonly StoredMessage[];
  readonly calls: readonly StoredCall[];
}

export interface Overview {
  /** All that have not ended. */
  readonly conversations: readonly Conversation[];
  /** One that has ended and was not reviewed. */
  readonly unreviewed: Conversation | undefined;
  /** When something last happened in any of them. */
  readonly lastActivity: number;
}

const COMPACTED_FACT = 'energy-compacted-before';
const NEWS_FACT = 'steward-news-read-to';
const MAX_HISTORY = 200;
const MAX_OVERVIEW = 10_000;
/** Ended conversations are removed after this time. */
const KEEP_ENDED_MS = 90 * 24 * 3_600_000;

export class ConversationStore {
  readonly #database: WorkDatabase;
  readonly #ledger: EnergyLedger;

  constructor(database: WorkDatabase) {
    this.#database = database;
    this.#ledger = new EnergyLedger(database);
  }

  addMessage({ conversation, newId, text, at, budget, maxConversations }: NewMessage): AddedMessage {
    return this.#database.transaction(() => {
      const known = conversation === undefined ? undefined : this.find(conversation);
      if (conversation !== undefined && known === undefined) return { refused: 'unknown' };
      const open = this.#countOpen();
      if ((known === undefined || known.isEnded) && open >= maxConversations)
        return { refused: 'too-many', open };
      const before = known ?? createConversation(newId, text, { at, budget });
      this.#save(withUserMessage(before, at));
      return { conversation: before.id, number: this.#append(before.id, { kind: 'user', text }, at) };
    });
  }

  /** The effects of a step, its energy, and the calls that are about to be made: all or nothing. */
  commitStep({
    conversation,
    messages,
    calls,
    change,
    seen,
    energy,
  }: CommittedStep): Conversation | undefined {
    return this.#database.transaction(() => {
      const before = this.find(conversation);
      this.#record(energy);
      if (before === undefined) return undefined;
      const isOvertakenBy = this.#overtakenBy(conversation, seen);
      const [step = 0] = messages.map((message) => this.#append(conversation, message, change.at));
      for (const { id, modelId, tool } of calls)
        this.#run(
          `INSERT INTO agent_calls (id, conversation, step, model_id, tool, state, started_at)
           VALUES (?, ?, ?, ?, ?, 'running', ?)`,
          [id, conversation, step, modelId, tool, change.at],
        );
      // With the energy that was just added.
      const current = this.find(conversation) ?? before;
      const after = withStep(current, { ...change, isOvertakenBy });
      this.#save(after);
      return after;
    });
  }

  /** The call waits for a person, or no longer. */
  setCallState(id: string, state: 'running' | 'approval'): void {
    this.#database.transaction(() =>
      this.#run("UPDATE agent_calls SET state = ? WHERE id = ? AND state <> 'done'", [state, id]),
    );
  }

  /** The conversation of the call; undefined if it was settled before. */
  settleCall({ id, ok, output, at }: SettledCall): string | undefined {
    return this.#database.transaction(() => {
      const [row] = this.#all(
        "UPDATE agent_calls SET state = 'done', output = ? WHERE id = ? AND state <> 'done' RETURNING conversation, tool",
        [output, id],
      );
      const before = row && this.find(String(row.conversation));
      if (row === undefined || before === undefined) return undefined;
      this.#append(before.id, { kind: 'result', tool: String(row.tool), ok, text: toShown(output) }, at);
      this.#save(withSettledCall(before, at));
      return before.id;
    });
  }

  /** Adds messages for the user that no step wrote, such as a failure; the conversation then waits for the user. */
  addReply(conversation: string, message: MessageContent, at: number): void {
    this.#database.transaction(() => {
      const before = this.find(conversation);
      if (before === undefined) return;
      this.#append(conversation, message, at);
      this.#save({ ...before, updatedAt: at, needsStep: false, unansweredSince: undefined });
    });
  }

  /** News about requests to the steward, for the conversations that made them, and how far they were read. Returns those. */
  addNews(news: readonly StewardNote[], readTo: number, at: number): readonly string[] {
    return this.#database.transaction(() => {
      this.#setFact(NEWS_FACT, String(readTo));
      return news.flatMap(({ requestId, text }) => {
        const [row] = this.#all('SELECT conversation FROM agent_requests WHERE id = ?', [requestId]);
        const before = row && this.find(String(row.conversation));
        if (before === undefined) return [];
        this.#append(before.id, { kind: 'note', text }, at);
        this.#save(withNote(before, at));
        return [before.id];
      });
    });
  }

  newsReadTo(): number {
    return Number(this.fact(NEWS_FACT) ?? 0);
  }

  /** The conversation asked the steward for something. */
  linkRequest(requestId: string, conversation: string): void {
    this.#database.transaction(() =>
      this.#run('INSERT OR IGNORE INTO agent_requests (id, conversation) VALUES (?, ?)', [
        requestId,
        conversation,
      ]),
    );
  }

  end(conversation: string, at: number): Conversation | undefined {
    return this.#change(conversation, (before) => withEnd(before, at));
  }

  /** Makes the agent look at it in the next cycle. */
  select(conversation: string): Conversation | undefined {
    return this.#change(conversation, (before) => ({ ...before, needsStep: !before.isEnded, lastStepAt: 0 }));
  }

  /** A review of a conversation that has ended: its energy, and at most one more message. */
  commitReview(conversation: string, followUp: MessageContent | undefined, energy: Consumption): void {
    this.#database.transaction(() => {
      this.#record(energy);
      const before = this.find(conversation);
      if (before === undefined) return;
      if (followUp !== undefined) this.#append(conversation, followUp, energy.at);
      this.#save({ ...before, isReviewed: true });
    });
  }

  /** Energy is above 0 again: every user can get an answer when it is next used up. */
  endUrgency(): void {
    this.#database.transaction(() => {
      for (const one of this.#open())
        if (one.isAnsweredInUrgency) this.#save({ ...one, isAnsweredInUrgency: false });
    });
  }

  // --- energy ----------------------------------------------------------------------------------------

  /** The number of those that were not recorded before. Calls in no known conversation are not the agent's. */
  recordEnergy(rows: readonly Consumption[]): number {
    const isOwn = ({ source, conversation = '' }: Consumption): boolean =>
      source !== 'call' || this.find(conversation) !== undefined;
    return this.#database.transaction(() => rows.filter((row) => isOwn(row) && this.#record(row)).length);
  }

  deduct(now: number, settings: RegulatorSettings): EnergyState {
    return this.#ledger.deduct(now, settings);
  }

  energyState(): EnergyState | undefined {
    return this.#ledger.state();
  }

  energyTotals(): EnergyTotals {
    return this.#ledger.totals();
  }

  /** What was used before cannot be told from what was recorded already. */
  energyKnownSince(): number {
    return Number(this.fact(COMPACTED_FACT) ?? 0);
  }

  // --- reading ---------------------------------------------------------------------------------------

  find(id: string): Conversation | undefined {
    const [row] = this.#all('SELECT data FROM agent_conversations WHERE id = ?', [id]);
    return row && toConversation(row);
  }

  overview(): Overview {
    const [unreviewed] = this.#all(
      `SELECT data FROM agent_conversations WHERE is_ended = 1 AND is_reviewed = 0 ORDER BY updated_at LIMIT 1`,
      [],
    );
    const [last] = this.#all('SELECT max(updated_at) AS at FROM agent_conversations', []);
    return {
      conversations: this.#open(),
      unreviewed: unreviewed && toConversation(unreviewed),
      lastActivity: Number(last?.at ?? 0),
    };
  }

  /** The latest ones first. */
  list({ limit, isEnded }: ListFilter): readonly Conversation[] {
    const [where, values] = isEnded === undefined ? ['', []] : ['WHERE is_ended = ?', [Number(isEnded)]];
    return this.#all(`SELECT data FROM agent_conversations ${where} ORDER BY updated_at DESC, id LIMIT ?`, [
      ...values,
      limit,
    ]).map(toConversation);
  }

  history(id: string): History | undefined {
    const conversation = this.find(id);
    if (conversation === undefined) return undefined;
    const rows = this.#all(
      'SELECT * FROM agent_messages WHERE conversation = ? ORDER BY number DESC LIMIT ?',
      [id, MAX_HISTORY],
    );
    const messages = rows.reverse().map(toMessage);
    const first = messages[0]?.number ?? 0;
    const calls = this.#all('SELECT * FROM agent_calls WHERE conversation = ? AND step >= ?', [id, first]);
    return { conversation, messages, calls: calls.map(toCall) };
  }

  /** What people see, after a number. */
  messagesAfter(id: string, after: number, limit: number): readonly StoredMessage[] {
    const kinds = VISIBLE_KINDS.map((kind) => `'${kind}'`).join();
    return this.#all(
      `SELECT * FROM agent_messages WHERE conversation = ? AND number > ? AND kind IN (${kinds}) ORDER BY number LIMIT ?`,
      [id, after, limit],
    ).map(toMessage);
  }

  openCalls(): readonly StoredCall[] {
    return this.#all("SELECT * FROM agent_calls WHERE state <> 'done'", []).map(toCall);
  }

  counts(): { readonly open: number; readonly ended: number; readonly steps: number } {
    const count = (sql: string): number => Number(this.#all(sql, [])[0]?.count ?? 0);
    return {
      open: this.#countOpen(),
      ended: count('SELECT count(*) AS count FROM agent_conversations WHERE is_ended = 1'),
      steps: count("SELECT count(*) AS count FROM agent_messages WHERE kind = 'step'"),
    };
  }

  fact(name: string): string | undefined {
    const [row] = this.#all('SELECT value FROM agent_facts WHERE name = ?', [name]);
    return row && String(row.value);
  }

  setFact(name: string, value: string): void {
    this.#database.transaction(() => this.#setFact(name, value));
  }

  /** Removes what ended long ago, and adds up old energy. */
  compact(now: number): void {
    const before = Math.floor(now - KEEP_ENDED_MS);
    const old = 'SELECT id FROM agent_conversations WHERE is_ended = 1 AND updated_at < ?';
    this.#database.transaction(() => {
      const kept = Math.max(this.#ledger.compact(now), this.energyKnownSince());
      this.#setFact(COMPACTED_FACT, String(kept));
      for (const table of ['agent_messages', 'agent_calls', 'agent_requests'])
        this.#run(`DELETE FROM ${table} WHERE conversation IN (${old})`, [before]);
      this.#run(`DELETE FROM agent_conversations WHERE id IN (${old})`, [before]);
    });
  }

  // --- inside ----------------------------------------------------------------------------------------

  #setFact(name: string, value: string): void {
    this.#run('INSERT OR REPLACE INTO agent_facts (name, value) VALUES (?, ?)', [name, value]);
  }

  /** With the energy that the conversation has used. */
  #record(row: Consumption): boolean {
    if (!this.#ledger.record(row)) return false;
    const before = row.conversation === undefined ? undefined : this.find(row.conversation);
    if (before !== undefined) this.#save({ ...before, used: before.used + row.thousandths });
    return true;
  }

  #overtakenBy(conversation: string, seen: number): 'user' | 'other' | undefined {
    const kinds = this.#all(
      "SELECT kind FROM agent_messages WHERE conversation = ? AND number > ? AND kind IN ('user', 'result', 'note')",
      [conversation, seen],
    ).map(({ kind }) => kind);
    if (kinds.includes('user')) return 'user';
    return kinds.length > 0 ? 'other' : undefined;
  }

  #open(): Conversation[] {
    return this.#all(
      `SELECT data FROM agent_conversations WHERE is_ended = 0 ORDER BY updated_at LIMIT ${MAX_OVERVIEW}`,
      [],
    ).map(toConversation);
  }

  #countOpen(): number {
    const [row] = this.#all('SELECT count(*) AS count FROM agent_conversations WHERE is_ended = 0', []);
    return Number(row?.count ?? 0);
  }

  #change(id: string, change: (before: Conversation) => Conversation): Conversation | undefined {
    return this.#database.transaction(() => {
      const before = this.find(id);
      if (before === undefined) return undefined;
      const after = change(before);
      this.#save(after);
      return after;
    });
  }

  #append(conversation: string, message: MessageContent, at: number): number {
    const { kind, ...data } = message;
    const [row] = this.#all(
      `INSERT INTO agent_messages (conversation, number, kind, data, at)
       SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ? FROM agent_messages WHERE conversation = ?
       RETURNING number`,
      [conversation, kind, JSON.stringify(data), Math.floor(at), conversation],
    );
    return Number(row?.number);
  }

  #save(conversation: Conversation): void {
    const { id, isEnded, isReviewed, updatedAt } = conversation;
    this.#run(
      'INSERT OR REPLACE INTO agent_conversations (id, is_ended, is_reviewed, updated_at, data) VALUES (?, ?, ?, ?, ?)',
      [id, Number(isEnded), Number(isReviewed), Math.floor(updatedAt), JSON.stringify(conversation)],
    );
  }

  #run(sql: string, values: readonly Value[]): void {
    this.#database.prepare(sql).run(...values);
  }

  #all(sql: string, values: readonly Value[]): Row[] {
    return this.#database.prepare(sql).all(...values);
  }
}
