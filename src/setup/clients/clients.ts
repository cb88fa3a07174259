import type { Client } from '../client.ts'
import { antigravity } from './antigravity.ts'
import { claude } from './claude.ts'
import { claudeDesktop } from './claude-desktop.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { devin } from './devin.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { vscode } from './vscode.ts'
import { zed } from './zed.ts'

/** Every client that setup knows, in the order of lists. */
export const clients: readonly Client[] = [
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
  return clients.find(({ id, aliases = [] }) => id === word || aliases.includes(word))
}
