/** The tables of conversations. Steps are never changed, only added. */
export const CONVERSATION_STEPS: readonly string[] = [
  `CREATE TABLE agent_conversations (
     id TEXT PRIMARY KEY,
     is_ended INTEGER NOT NULL,
     is_reviewed INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     data TEXT NOT NULL
   );
   CREATE INDEX agent_conversations_state ON agent_conversations (is_ended, updated_at);
   CREATE TABLE agent_messages (
     conversation TEXT NOT NULL,
     number INTEGER NOT NULL,
     kind TEXT NOT NULL,
     data TEXT NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (conversation, number)
   );
   CREATE TABLE agent_calls (
     id TEXT PRIMARY KEY,
     conversation TEXT NOT NULL,
     step INTEGER NOT NULL,
     model_id TEXT NOT NULL,
     tool TEXT NOT NULL,
     state TEXT NOT NULL,
     output TEXT,
     started_at INTEGER NOT NULL
   );
   CREATE INDEX agent_calls_conversation ON agent_calls (conversation, step);
   CREATE INDEX agent_calls_open ON agent_calls (state) WHERE state <> 'done';
   CREATE TABLE agent_requests (id TEXT PRIMARY KEY, conversation TEXT NOT NULL);
   CREATE TABLE agent_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
];
