// A bare MCP server over stdio.
import { appendFileSync } from 'node:fs';
import { createAnswers } from './answers.mjs';
import { parseSettings } from './settings.mjs';

const settings = parseSettings();
if (settings.startsFile !== undefined) appendFileSync(settings.startsFile, `${process.pid}\n`);
const answer = createAnswers(settings);

let unfinished = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unfinished + chunk).split('\n');
  unfinished = lines.pop() ?? '';
  let output = '';
  for (const line of lines) {
    const reply = line === '' ? undefined : answer(JSON.parse(line));
    if (reply !== undefined) output += `${reply}\n`;
  }
  // One write per chunk read: with 64 calls in flight the server must not become the bottleneck.
  if (output !== '') process.stdout.write(output);
});
process.stdin.once('end', () => process.exit(0));
