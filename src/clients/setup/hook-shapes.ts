import { posix, win32 } from 'node:path'
import { type HookFileEntry, type HookFileInput, jsonc, jsonWithComments, strictJson } from './client.ts'
import { type Shell, shellLine, shellOf } from './commands.ts'
import type { Edit } from './edit/edit-file.ts'
import type { JsonFormat } from './edit/json.ts'
import type { Json } from './edit/json-text.ts'

/** The hook format of Claude Code, which most clients share. */
export function claudeShape(
  options: { readonly keys?: readonly string[]; readonly unit?: 'ms'; readonly format?: JsonFormat } = {},
): (input: HookFileInput) => readonly Edit[] {
  const { keys = ['hooks'], unit, format = strictJson } = options
  return (input) => {
    const { context, file, events } = input
    return events.map((event) => {
      const hook = {
        type: 'command',
        command: hookLine(event, input, shellOf(context)),
        timeout: unit === 'ms' ? event.seconds * 1000 : event.seconds,
        ...(event.isAsync && { async: true }),
      }
      const value = { ...(event.matcher !== null && { matcher: event.matcher }), hooks: [hook] }
      return hookEdit(file, format, [...keys, event.name], value)
    })
  }
}

/** The command line of a hook. In POSIX shells a committed one does nothing if waymark is missing. */
function hookLine({ words }: HookFileEntry, { guarded }: HookFileInput, shell: Shell): string {
  const line = shellLine(words, shell)
  return guarded && shell === 'posix' ? `command -v ${words[0]} >/dev/null 2>&1 || exit 0; ${line}` : line
}

export function cursorShape(input: HookFileInput): readonly Edit[] {
  const { context, file, events } = input
  const hooks = events.map((event) =>
    hookEdit(file, jsonc, ['hooks', event.name], {
      command: hookLine(event, input, shellOf(context)),
      timeout: event.seconds,
    }),
  )
  return [versionEdit(file, jsonc), ...hooks]
}

export function copilotShape(input: HookFileInput): readonly Edit[] {
  const { file, events } = input
  const hooks = events.map((event) =>
    hookEdit(file, strictJson, ['hooks', event.name], {
      type: 'command',
      bash: hookLine(event, input, 'posix'),
      powershell: shellLine(event.words, 'powershell'),
      timeoutSec: event.seconds,
    }),
  )
  return [versionEdit(file, jsonWithComments), ...hooks]
}

/** A program for each event, in a folder. */
export function scriptShape({ context, file, events, guarded }: HookFileInput): readonly Edit[] {
  const path = context.platform === 'win32' ? win32 : posix
  return events.map(({ name, words }) => ({
    kind: 'file',
    part: 'hooks',
    file: path.join(file, name),
    text: `#!/bin/sh\n# Written by waymark setup; waymark setup cline --undo removes it.\n${guarded ? `command -v ${words[0]} >/dev/null 2>&1 || exit 0\n` : ''}exec ${shellLine(words, 'posix')}\n`,
    executable: true,
  }))
}

/** OpenCode runs our module in its own process; it passes each event to the hook. */
export function pluginShape({ file, method, events }: HookFileInput): readonly Edit[] {
  const text = pluginText(events, { needsShell: method === 'name' })
  return [{ kind: 'file', part: 'hooks', file, text, executable: false }]
}

function pluginText(
  events: readonly HookFileEntry[],
  { needsShell }: { readonly needsShell: boolean },
): string {
  const commands = Object.fromEntries(events.map(({ name, words }) => [name, words]))
  const lines = Object.entries(commands).map(
    ([name, words]) => `  ${JSON.stringify(name)}: ${JSON.stringify(words).replaceAll('","', '", "')},`,
  )
  const shell = needsShell ? "shell: process.platform === 'win32', " : ''
  return `// Written by waymark setup: tells Waymark what happens here. waymark setup opencode --undo removes it.
import { execFile } from 'node:child_process'

const commands: Record<string, string[]> = {
${lines.join('\n')}
}

type Said = Record<string, unknown>

export const Waymark = async ({ directory }: { directory: string }) => {
  const parents = new Map<unknown, unknown>() // a session with a parent is an agent of that one
  const who = (id: unknown) => (parents.has(id) ? { sessionID: parents.get(id), agentID: id } : { sessionID: id })
  const tell = (name: string, said: Said) => new Promise<string>((done) => {
    const [command, ...words] = commands[name] ?? []
    if (command === undefined) return done('')
    const options = { cwd: directory, timeout: 10_000, ${shell}windowsHide: true }
    const child = execFile(command, words, options, (_, out) => done(String(out ?? '')))
    child.stdin?.on('error', () => {})
    child.stdin?.end(JSON.stringify({ event: name, cwd: directory, ...said }))
  })
  return {
    event: async ({ event }: { event: { type: string; properties?: { sessionID?: string; info?: Said } } }) => {
      const { sessionID, info } = event.properties ?? {}
      const id = info?.id ?? sessionID
      if (info?.parentID) parents.set(id, info.parentID)
      const name = parents.has(id) ? event.type.replace(/^session\\.(?=created|idle)/, 'agent.') : event.type
      await tell(event.type, { event: name, ...who(id), version: info?.version })
    },
    'chat.message': async (input: Said & { model?: { providerID: string; modelID: string } }) => {
      const model = input.model && \`\${input.model.providerID}/\${input.model.modelID}\`
      await tell('chat.message', { ...input, ...who(input.sessionID), model })
    },
    'tool.execute.before': async (input: Said, { args }: Said) => {
      const said = { ...input, ...who(input.sessionID), args, hook_event_name: 'PreToolUse', tool_name: input.tool, tool_input: args }
      const answer = (await tell('tool.execute.before', said)).trim()
      const verdict = answer.startsWith('{') ? JSON.parse(answer).hookSpecificOutput : null
      if (['deny', 'ask'].includes(verdict?.permissionDecision)) throw new Error(verdict.permissionDecisionReason)
    },
    'tool.execute.after': async (input: Said, output: Said) => {
      await tell('tool.execute.after', { ...input, ...who(input.sessionID), output: { title: output?.title, metadata: output?.metadata } })
    },
  }
}
`
}

function hookEdit(file: string, format: JsonFormat, keys: readonly string[], value: Json): Edit {
  return { kind: 'json', part: 'hooks', file, format, place: { keys, item: true }, value }
}

function versionEdit(file: string, format: JsonFormat): Edit {
  return {
    kind: 'json',
    part: 'hooks',
    file,
    format,
    place: { keys: ['version'], item: false },
    value: 1,
  }
}

const ourHook = /waymark-capture\b|waymark(?:\.js)?(?:\\?["'])?\s+hook\b/

/** Whether a text registers a hook of ours in any format. */
export function hasOurHook(text: string): boolean {
  return ourHook.test(text)
}

/** The first line with a hook of ours; 0: none. */
export function lineOfHook(text: string): number {
  const at = text.search(ourHook)
  return at < 0 ? 0 : text.slice(0, at).split('\n').length
}
