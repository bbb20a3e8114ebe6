/** The tables of the ledger. Steps are never changed, only added. Amounts are thousandths of a unit. */
export const ENERGY_STEPS: readonly string[] = [
  `CREATE TABLE agent_energy (
     ref TEXT PRIMARY KEY,
     source TEXT NOT NULL,
     conversation TEXT,
     amount INTEGER NOT NULL,
     at INTEGER NOT NULL,
     deducted INTEGER NOT NULL DEFAULT 0
   );
   CREATE INDEX agent_energy_open ON agent_energy (deducted) WHERE deducted = 0;
   CREATE INDEX agent_energy_at ON agent_energy (at);
   CREATE TABLE agent_energy_past (source TEXT PRIMARY KEY, amount INTEGER NOT NULL);
   CREATE TABLE agent_regulator (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     level INTEGER NOT NULL,
     at REAL NOT NULL,
     deducted INTEGER NOT NULL
   )`,
];
