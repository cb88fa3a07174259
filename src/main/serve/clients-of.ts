import { existsSync } from 'node:fs'
import { join } from 'node:path'

const traces: readonly (readonly [string, readonly string[]])[] = [
  ['Claude Code', ['.claude', 'CLAUDE.md', '.mcp.json']],
  ['Cursor', ['.cursor', '.cursorrules']],
  ['Codex', ['.codex']],
  ['VS Code', ['.vscode', '.github/copilot-instructions.md']],
]

/** The clients of agents that left something in a project, the likeliest first. */
export function clientsOf(folder: string): readonly string[] {
  return traces
    .filter(([, paths]) => paths.some((path) => existsSync(join(folder, path))))
    .map(([name]) => name)
}
