import { claudeChecked } from './claude.ts'
import type { ClientChecked } from './client.ts'
import { clineChecked } from './cline.ts'
import { codexChecked } from './codex.ts'
import { copilotChecked } from './copilot.ts'
import { cursorChecked } from './cursor.ts'
import { devinChecked } from './devin.ts'
import { geminiChecked } from './gemini.ts'
import { opencodeChecked } from './opencode.ts'
import { vscodeChecked } from './vscode.ts'

/** By the names of the clients. */
export const checkedClients: Readonly<Record<string, ClientChecked>> = {
  claude: claudeChecked,
  codex: codexChecked,
  cursor: cursorChecked,
  gemini: geminiChecked,
  opencode: opencodeChecked,
  copilot: copilotChecked,
  vscode: vscodeChecked,
  devin: devinChecked,
  cline: clineChecked,
}
