import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { NamedFile, ToolUse } from '../../domain/gate/hook/tool-use.ts'
import type { JsonObject } from '../../domain/gate/json.ts'
import type { HookCall } from './protocol.ts'

/** Tools that change the file they name, of Claude Code and of Cursor. */
const editors = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Delete', 'StrReplace', 'EditNotebook']

/** What Cursor's tools are called by the processes, which speak of Claude Code's. */
const cursorNames: Readonly<Record<string, string>> = { Shell: 'Bash', Write: 'Edit', StrReplace: 'Edit' }

const fileFields = ['file_path', 'notebook_path', 'path', 'target_file']

/** The call of a tool as it is judged. */
export function toolUse(
  { name, input }: NonNullable<HookCall['tool']>,
  client: HookCall['client'],
  place: { readonly top: string; readonly folder: string },
): ToolUse {
  const other = client === 'cursor' ? cursorNames[name] : undefined
  return {
    names: other === undefined ? [name] : [name, other],
    edits: editors.includes(name),
    file: namedFile(fileOf(input), place),
    command: commandOf(input),
  }
}

/** A line, or the words of a command; some clients wrap the line in a shell of their own. */
function commandOf({ command }: JsonObject): string | null {
  if (typeof command === 'string') return command
  if (!Array.isArray(command)) return null
  const words = command.map(String)
  const [shell = '', flag = '', line] = words
  if (words.length === 3 && /(?:^|\/)(?:ba|z|da|k)?sh$/.test(shell) && /^-l?c$/.test(flag))
    return line ?? null
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}

function fileOf(input: JsonObject): string | null {
  const named = fileFields.map((field) => input[field]).find((value) => value !== undefined)
  return typeof named === 'string' && named !== '' && !named.includes('\0') ? named : null
}

/** Where a file that a call names lies, by what its path leads to: `..` and symbolic links are followed. */
function namedFile(
  path: string | null,
  { top, folder }: { readonly top: string; readonly folder: string },
): NamedFile {
  if (path === null) return { where: 'nowhere' }
  const real = reached(resolve(folder, path))
  const way = relative(top, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return { where: 'outside', path: real }
  return { where: 'inside', path: sep === '/' ? way : way.replaceAll(sep, '/') }
}

/** What a path leads to, though its last parts need not exist yet. */
function reached(path: string): string {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    const real = realPath(existing)
    if (real !== null) return join(real, ...missing)
    if (dirname(existing) === existing) return path
    missing.unshift(basename(existing))
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}
