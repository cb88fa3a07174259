import { relative, resolve, sep } from 'node:path'
import type { ToolTarget, ToolUse } from '../../gate/domain/hook/tool-use.ts'
import { isPatch, pathsOfPatch } from '../../kernel/apply-patch-format.ts'
import { isWithin, reachedPath } from '../../kernel/files/contained-file.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { excerpt } from '../../kernel/text.ts'
import type { HookCall } from './protocol.ts'

/** The name of the same tool in Claude Code, which processes use. */
const namesThere: Readonly<Record<string, string>> = {
  // Gemini CLI
  write_file: 'Write',
  replace: 'Edit',
  run_shell_command: 'Bash',
  // Cline
  write_to_file: 'Write',
  replace_in_file: 'Edit',
  execute_command: 'Bash',
  // OpenCode, Devin, Copilot CLI
  write: 'Write',
  edit: 'Edit',
  create: 'Write',
  bash: 'Bash',
  exec: 'Bash',
  // VS Code
  create_file: 'Write',
  replace_string_in_file: 'Edit',
  insert_edit_into_file: 'Edit',
  run_in_terminal: 'Bash',
}

/** Cursor's names; one of them means another tool elsewhere. */
const cursorNames: Readonly<Record<string, string>> = { Shell: 'Bash', Write: 'Edit', StrReplace: 'Edit' }

/** Tools that change the file in their input. */
const editors = [
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Delete',
  'StrReplace',
  'EditNotebook',
  ...Object.keys(namesThere).filter((name) => namesThere[name] !== 'Bash'),
]

/** A longer path cannot be opened. */
const maxPathLength = process.platform === 'win32' ? 32 * 1024 : 4096

const fileFields = ['file_path', 'notebook_path', 'path', 'target_file', 'filePath']

/** The tool uses to check: one for each file of a patch, which a shell command may contain too. */
export function toolUses(
  tool: NonNullable<HookCall['tool']>,
  client: HookCall['client'],
  place: { readonly top: string; readonly folder: string },
): readonly ToolUse[] {
  const whole = toolUse(tool, client, place)
  const isPatcher = tool.name === 'apply_patch'
  // A shell passes a patch to that program.
  const line = /\bapply_patch\b/.test(whole.command ?? '') ? [whole.command] : []
  const texts = (isPatcher ? Object.values(tool.input).flat() : line).filter(isPatch)
  const paths = new Set(texts.flatMap(pathsOfPatch).filter((path) => !path.includes('\0')))
  const edits = [...paths].map((path) => ({
    names: ['apply_patch', 'Edit'] as const,
    edits: true,
    file: namedFile(path, place),
    command: null,
  }))
  return isPatcher && edits.length > 0 ? edits : [whole, ...edits]
}

function toolUse(
  { name, input }: NonNullable<HookCall['tool']>,
  client: HookCall['client'],
  place: { readonly top: string; readonly folder: string },
): ToolUse {
  const other = client === 'cursor' ? cursorNames[name] : namesThere[name]
  return {
    names: other === undefined ? [name] : [name, other],
    edits: editors.includes(name),
    file: namedFile(fileOf(input), place),
    command: commandOf(input),
  }
}

/** The command line of a call; some clients send words, or wrap the line in a shell. */
function commandOf({ command }: JsonObject): string | null {
  if (typeof command === 'string') return command
  if (!Array.isArray(command)) return null
  const words = command.map(String)
  const [shell = '', flag = '', line] = words
  if (words.length === 3 && /(?:^|\/)(?:ba|z|da|k)?sh$/.test(shell) && /^-l?c$/.test(flag))
    return line ?? null
  return words.map(quoteShellWord).join(' ')
}

function fileOf(input: JsonObject): string | null {
  const named = fileFields.map((field) => input[field]).find((value) => value !== undefined)
  return typeof named === 'string' && named !== '' && !named.includes('\0') ? named : null
}

/** The location of a call's file, with `..` and symbolic links resolved. */
function namedFile(
  path: string | null,
  { top, folder }: { readonly top: string; readonly folder: string },
): ToolTarget {
  if (path === null) return { where: 'nowhere' }
  const named = resolve(folder, path)
  // Resolving it would take longer than a client waits for its hook.
  if (named.length > maxPathLength) return { where: 'outside', path: excerpt(named) }
  const real = reachedPath(named)
  // Writing to a dangling link creates its target.
  if (typeof real !== 'string') return { where: 'outside', path: named }
  if (!isWithin(top, real)) return { where: 'outside', path: real }
  const relativePath = relative(top, real)
  return { where: 'inside', path: sep === '/' ? relativePath : relativePath.replaceAll(sep, '/') }
}
