import { antigravity } from '../antigravity/setup.ts'
import { claude } from '../claude/setup.ts'
import { claudeDesktop } from '../claude-desktop/setup.ts'
import { cline } from '../cline/setup.ts'
import { codex } from '../codex/setup.ts'
import { copilot } from '../copilot/setup.ts'
import { cursor } from '../cursor/setup.ts'
import { devin } from '../devin/setup.ts'
import { gemini } from '../gemini/setup.ts'
import { opencode } from '../opencode/setup.ts'
import { vscode } from '../vscode/setup.ts'
import { zed } from '../zed/setup.ts'
import type { Client } from './client.ts'

/** Every client that setup knows, in the order of lists. */
export const setupClients: readonly Client[] = [
  claude,
  cursor,
  vscode,
  codex,
  gemini,
  antigravity,
  opencode,
  copilot,
  devin,
  zed,
  claudeDesktop,
  cline,
]

export function clientNamed(name: string): Client | undefined {
  const word = name.toLowerCase()
  return setupClients.find(({ id, aliases = [] }) => id === word || aliases.includes(word))
}
