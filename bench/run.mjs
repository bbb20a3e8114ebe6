// Runs the benchmarks and prints each figure with its bound, then every client compared with the raw SDK, and every
// gateway compared with direct calls.
// Exits with 1 if a figure misses its bound.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { figures } from './figures.mjs';
import { gateways } from './gateways.mjs';
import { Measurements } from './harness/measurements.mjs';
import { judge, toFigureLine, toTable, toTableLines } from './harness/report.mjs';
import { installPeers } from './install-peers.mjs';
import { peers } from './peers.mjs';
import { subjects } from './subjects.mjs';
import { runCalls } from './suites/calls.mjs';
import { runCatalogueGrowth } from './suites/catalogue-growth.mjs';
import { runCommandLine } from './suites/command-line.mjs';
import { runFanOut } from './suites/fan-out.mjs';
import { runFirstCall } from './suites/first-call.mjs';
import { runGateway } from './suites/gateway.mjs';
import { runHotReload } from './suites/hot-reload.mjs';
import { runRules } from './suites/rules.mjs';
import { runSingleStart } from './suites/single-start.mjs';
import { runSteward } from './suites/steward.mjs';

const usage = `node bench/run.mjs [<regex>] [--only <regex>] [--rounds N] [--no-peers] [--json]

  --only <regex>  figures whose id matches: ${figures.map(({ id }) => id).join(', ')}
  --rounds N      rounds per figure (default 9; fewer than 7 is a rough look)
  --no-peers      our library, our daemon, the raw SDK and the floors alone
  --json          the result as JSON on stdout`;

function parseOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      rounds: { type: 'string', default: '9' },
      'no-peers': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    console.error(`--rounds takes a whole number from 1\n\n${usage}`);
    process.exit(2);
  }
  return { ...values, rounds, only: new RegExp(positionals[0] ?? values.only) };
}

/** @param {string} line */
const note = (line) => process.stderr.write(`${line}\n`);

async function selectSubjects(options, scratchDirectory) {
  const withPeers = !options['no-peers'];
  /** @type {{ missing: Record<string, string> }} */
  const { missing } = withPeers ? await installPeers(note) : { missing: {} };
  const isTaking = ({ peer }) => peer === undefined || (withPeers && missing[peer] === undefined);
  const clients = subjects
    .filter(isTaking)
    // A separate state directory: the run must neither read nor write the user's era verdicts.
    .map((subject) => ({
      ...subject,
      settings: { ...subject.settings, stateDir: join(scratchDirectory, 'state') },
    }));
  return { clients, gateways: gateways.filter(isTaking), missing };
}

async function runSuites(context) {
  await runSingleStart(context);
  await runCalls('stdio', context);
  await runCalls('http', context);
  await runFirstCall(context);
  await runFanOut(context);
  await runCatalogueGrowth(context);
  await runCommandLine(context);
  await runHotReload(context);
  await runRules(context);
  await runGateway(context);
  await runSteward(context);
}

function printText({ judged, tables, missing, failures }) {
  for (const figure of judged) console.log(toFigureLine(figure));
  for (const { kind, heading, rows } of tables) {
    if (rows.length > 0) console.log(`\n${heading}`);
    for (const line of toTableLines(rows, kind)) console.log(line);
  }
  for (const [id, reason] of Object.entries(missing)) {
    console.log(`missing: ${[...peers, ...gateways].find((peer) => peer.id === id)?.label ?? id}: ${reason}`);
  }
  for (const { figure, subject, reason } of failures) console.log(`failed: ${figure}, ${subject}: ${reason}`);
}

async function main() {
  const options = parseOptions();
  if (options.help) return console.log(usage);
  const scratchDirectory = mkdtempSync(join(tmpdir(), 'turnbuckle-bench-'));
  const started = performance.now();
  try {
    const measurements = new Measurements();
    const { clients, missing, ...selection } = await selectSubjects(options, scratchDirectory);
    const selected = figures.filter(({ id }) => options.only.test(id));
    const wants = (id) => selected.some((figure) => figure.id === id);
    await runSuites({
      rounds: options.rounds,
      subjects: clients,
      gateways: selection.gateways,
      reportMissing: ({ id }, reason) => {
        missing[id] = reason;
      },
      wants,
      measurements,
      scratchDirectory,
      note,
    });

    const judged = selected.map((figure) => judge(figure, measurements));
    const rowsOf = (table, compared) =>
      toTable(
        selected.filter((figure) => figure.table === table),
        compared.filter(({ id }) => missing[id] === undefined),
        measurements,
      );
    const tables = [
      {
        kind: 'client',
        heading: 'Every client over the raw SDK; the first row is what the raw SDK took.',
        rows: rowsOf('clients', clients),
      },
      {
        kind: 'gateway',
        heading: 'Every gateway over direct calls; the first row is what direct calls took.',
        rows: rowsOf('gateways', selection.gateways),
      },
    ];
    const { failures } = measurements;
    if (options.json) {
      const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
      const [{ rows: clientRows }, { rows: gatewayRows }] = tables;
      console.log(
        JSON.stringify(
          { machine, figures: judged, clients: clientRows, gateways: gatewayRows, missing, failures },
          null,
          2,
        ),
      );
    } else printText({ judged, tables, missing, failures });
    note(`took ${Math.round((performance.now() - started) / 1000)} s`);
    process.exitCode = judged.every(({ verdict }) => verdict === 'ok') ? 0 : 1;
  } finally {
    rmSync(scratchDirectory, { recursive: true, force: true });
  }
}

await main();
