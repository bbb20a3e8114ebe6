// Runs the checks of `npm run check`, two at a time, as each uses one processor. Prints each in full when it is done.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const AT_A_TIME = 2;
// The slowest first, so that none of them is left over at the end.
const CHECKS = {
  'npm run unused': ['node_modules/knip/bin/knip.js'],
  'npm run arrows': ['scripts/check-arrows.mjs'],
  'the types of e2e': ['node_modules/typescript/bin/tsc', '-p', 'e2e', '--noEmit'],
  'npm run words': ['scripts/check-words.mjs'],
  'npm run structure': ['scripts/check-structure.mjs'],
  'npm run lint': ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
};

const root = fileURLToPath(new URL('..', import.meta.url));

/** True if nothing was found. */
function run([name, [program, ...words]]) {
  const child = spawn(process.execPath, [join(root, program), ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(part));
  return new Promise((resolve) =>
    child.once('close', (code) => {
      console.log(`> ${name}${code === 0 ? '' : ` failed (exit code ${code})`}`);
      process.stdout.write(Buffer.concat(said));
      resolve(code === 0);
    }),
  );
}

const waiting = Object.entries(CHECKS);
const results = [];
async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await run(next));
}
await Promise.all(Array.from({ length: AT_A_TIME }, work));
process.exitCode = results.every(Boolean) ? 0 : 1;
