// Runs the benchmarks and prints each figure with its bound, then every client compared with the raw SDK.
// Exits with 1 if a figure misses its bound.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { figures } from './figures.mjs';
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

const usage = `node bench/run.mjs [<regex>] [--only <regex>] [--rounds N] [--no-peers] [--json]

  --only <regex>  figures whose id matches: ${figures.map(({ id }) => id).join(', ')}
  --rounds N      rounds per figure (default 9; fewer than 7 is a rough look)
  --no-peers      our library and the raw SDK alone
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
  const { missing } = withPeers ? await installPeers(note) : { missing: {} };
  const taking = subjects
    .filter(({ peer }) => peer === undefined || (withPeers && missing[peer] === undefined))
    // A separate state directory: the run must neither read nor write the user's era verdicts.
    .map((subject) => ({
      ...subject,
      settings: { ...subject.settings, stateDir: join(scratchDirectory, 'state') },
    }));
  return { taking, missing };
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
}

function printText({ judged, rows, missing, failures }) {
  for (const figure of judged) console.log(toFigureLine(figure));
  const lines = toTableLines(rows);
  if (lines.length > 0)
    console.log('\nEvery client over the raw SDK; the first row is what the raw SDK took.');
  for (const line of lines) console.log(line);
  for (const [id, reason] of Object.entries(missing)) {
    console.log(`missing: ${peers.find((peer) => peer.id === id)?.label ?? id}: ${reason}`);
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
    const { taking, missing } = await selectSubjects(options, scratchDirectory);
    const selected = figures.filter(({ id }) => options.only.test(id));
    const wants = (id) => selected.some((figure) => figure.id === id);
    await runSuites({
      rounds: options.rounds,
      subjects: taking,
      wants,
      measurements,
      scratchDirectory,
      note,
    });

    const judged = selected.map((figure) => judge(figure, measurements));
    const rows = toTable(selected, taking, measurements);
    const { failures } = measurements;
    if (options.json) {
      const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
      console.log(JSON.stringify({ machine, figures: judged, clients: rows, missing, failures }, null, 2));
    } else printText({ judged, rows, missing, failures });
    note(`took ${Math.round((performance.now() - started) / 1000)} s`);
    process.exitCode = judged.every(({ verdict }) => verdict === 'ok') ? 0 : 1;
  } finally {
    rmSync(scratchDirectory, { recursive: true, force: true });
  }
}

await main();
