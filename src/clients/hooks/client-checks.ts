import { claudeChecked } from '../claude/hooks.ts'
import { clineChecked } from '../cline/hooks.ts'
import { codexChecked } from '../codex/hooks.ts'
import { copilotChecked } from '../copilot/hooks.ts'
import { cursorChecked } from '../cursor/hooks.ts'
import { devinChecked } from '../devin/hooks.ts'
import { geminiChecked } from '../gemini/hooks.ts'
import { opencodeChecked } from '../opencode/hooks.ts'
import { vscodeChecked } from '../vscode/hooks.ts'
import type { HookClientInfo } from './client.ts'

/** By the names of the clients. */
export const checkedClients: Readonly<Record<string, HookClientInfo>> = {
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
