import { mcpHub, mcporter, mcpProxyGo, oneMcp } from './clients/aggregators.js';
import { claudeAgents, claudeCode } from './clients/claude-code.js';
import { codex } from './clients/codex.js';
import { continueDev } from './clients/continue.js';
import { copilot } from './clients/copilot.js';
import { antigravity, gemini } from './clients/gemini.js';
import { goose } from './clients/goose.js';
import { opencode } from './clients/opencode.js';
import * as plain from './clients/plain-clients.js';
import { vibe } from './clients/vibe.js';
import { vscode } from './clients/vscode.js';
import { zed } from './clients/zed.js';
export const CLIENTS = [
  claudeCode,
  claudeAgents,
  plain.claudeDesktop,
  plain.cursor,
  vscode,
  copilot,
  codex,
  opencode,
  plain.windsurf,
  zed,
  goose,
  gemini,
  antigravity,
  plain.cline,
  plain.kiro,
  continueDev,
  plain.lmStudio,
  plain.amp,
  plain.crush,
  plain.factory,
  plain.kimi,
  plain.trae,
  plain.qoder,
  vibe,
  oneMcp,
  mcpProxyGo,
  mcpHub,
  mcporter,
];
/** Undefined for an id that is not in the table. */
export function clientById(id) {
  return CLIENTS.find((client) => client.id === id);
}
//# sourceMappingURL=clients.js.map
