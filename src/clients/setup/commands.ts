import { quoteShellWord } from '../../kernel/shell-word.ts'
import type { SetupContext } from './setup-context.ts'

export interface LaunchCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** How the server is started: by a name that every machine knows, by npx, or by the absolute paths of this machine. */
export type LaunchMethod = 'name' | 'npx' | 'absolute'

/** `waymark mcp`, as a client's file names it. */
export function serverCommand(
  { platform, program }: SetupContext,
  method: LaunchMethod,
  more: readonly string[] = [],
): LaunchCommand {
  const words = ['mcp', ...more]
  if (method === 'absolute') return { command: program.node, args: [program.bin, ...words] }
  if (method === 'name') return { command: 'waymark', args: words }
  const npx = ['-y', `waymark@${program.version}`, ...words]
  // Claude Code starts it without a shell, and there npx is a script.
  return platform === 'win32'
    ? { command: 'cmd', args: ['/c', 'npx', ...npx] }
    : { command: 'npx', args: npx }
}

/** An event that is registered with a client. */
export interface HookCommand {
  readonly client: string
  /** The client's name for the event. */
  readonly event: string
  /** The argument of `waymark hook`, where the gate listens to this event. */
  readonly gate: string | null
}

/** The command of a hook. Where the gate listens, one process first records, then checks. */
export function hookWords(
  { program }: SetupContext,
  { client, event, gate }: HookCommand,
  method: Exclude<LaunchMethod, 'npx'>,
): readonly string[] {
  const start = (name: string, file: string) => (method === 'name' ? [name] : [program.node, file])
  return gate === null
    ? [...start('waymark-capture', program.capture), client, event]
    : [...start('waymark', program.bin), 'hook', gate, client]
}

export type Shell = 'posix' | 'windows' | 'powershell'

export function shellOf({ platform }: Pick<SetupContext, 'platform'>): Shell {
  return platform === 'win32' ? 'windows' : 'posix'
}

/** Words as a line of a shell. */
export function shellLine(words: readonly string[], shell: Shell): string {
  const line = words.map((word) => quoteWord(word, shell)).join(' ')
  // PowerShell takes a quoted first word as a string without `&`.
  return shell === 'powershell' && /^['"]/.test(line) ? `& ${line}` : line
}

function quoteWord(word: string, shell: Shell): string {
  const quoted = quoteShellWord(word)
  if (quoted === word) return word
  if (shell === 'powershell') return `'${word.replaceAll("'", "''")}'`
  // Clients on Windows hand the line to bash or to cmd: both take slashes, and double quotes around what has spaces.
  if (shell === 'windows') return `"${word.replaceAll('\\', '/')}"`
  return quoted
}
