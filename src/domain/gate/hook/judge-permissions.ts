import { anyGlob } from '../../glob.ts'
import { stateNamed, type ToolPermissions } from '../definition.ts'
import type { HookRun } from './hook-run.ts'
import { fitsCommand, readShellLine, type ShellLine, unwrapped } from './shell-line.ts'
import { isTool, meantTool } from './tool-name.ts'
import { type HookVerdict, strictest, type ToolUse } from './tool-use.ts'
import { waysOn } from './ways-on.ts'

interface Objection {
  readonly decision: HookVerdict['decision']
  /** What the state does, as the rest of a sentence. */
  readonly says: string
}

/** What the state of a run says to a call: denied before asked before not allowed. An empty list restricts nothing. */
export function judgePermissions(run: HookRun, use: ToolUse): HookVerdict | null {
  const { record, definition } = run
  const permissions = stateNamed(definition, record.state)?.toolPermissions ?? null
  if (permissions === null) return null
  const found = objections(permissions, use)
  if (found.length === 0) return null
  const where = `Run ${record.id} (${definition.name}) is in the state "${record.state}", which`
  const verdict = strictest(found.map(({ decision, says }) => ({ decision, reason: `${where} ${says}.` })))
  return verdict && { ...verdict, reason: `${verdict.reason} ${waysOn(run)}` }
}

function objections(permissions: ToolPermissions, use: ToolUse): readonly Objection[] {
  const { allowed, denied, ask, paths } = permissions
  const [name] = use.names
  const line = use.command === null ? null : readShellLine(use.command)
  const isIn = (list: readonly string[]) =>
    list.some((meant) => meantTool(meant)?.pattern === null && isTool(meant, use))
  if (isIn(denied)) return [{ decision: 'deny', says: `denies ${name}` }]
  const deniedPart = touched(patternsFor(denied, use), line)
  if (deniedPart !== null) return [{ decision: 'deny', says: `denies ${deniedPart}` }]
  const limits = paths.filter(({ tool }) => isTool(tool, use)).flatMap(({ globs }) => beyond(globs, use))
  const asked = isIn(ask) ? name : touched(patternsFor(ask, use), line)
  if (asked !== null) return [...limits, { decision: 'ask', says: `lets a person decide about ${asked}` }]
  const isAllowed = allowed.length === 0 || isIn(allowed)
  if (!isAllowed) {
    const only = `allows only ${allowed.join(', ')}, not`
    const refused = beyondPatterns(patternsFor(allowed, use), line)
    if (refused === null) return limits
    return [...limits, { decision: 'deny', says: `${only} ${refused || name}` }]
  }
  // What cannot be told apart may hold what is denied, or asked about.
  if (line === null || line.unclear === null || patternsFor([...denied, ...ask], use).length === 0)
    return limits
  const says = `looks at the commands of ${name}, and ${line.unclear} hides what this line runs`
  return [...limits, { decision: 'ask', says }]
}

function patternsFor(list: readonly string[], use: ToolUse): readonly string[] {
  return list.flatMap((written) => {
    const meant = meantTool(written)
    return meant !== null && meant.pattern !== null && isTool(meant.tool, use) ? [meant.pattern] : []
  })
}

/** The first command of a line that a pattern fits, however it is quoted and whatever stands before its name. */
function touched(patterns: readonly string[], line: ShellLine | null): string | null {
  const found = line?.commands.find(({ text, bare }) =>
    [text, bare, unwrapped(bare)].some((written) =>
      patterns.some((pattern) => fitsCommand(pattern, written)),
    ),
  )
  return found === undefined ? null : shown(found.text)
}

/**
 * What of a line the patterns do not cover: null when every command fits one exactly as it is written, and nothing else
 * happens; empty where there is no pattern.
 */
function beyondPatterns(patterns: readonly string[], line: ShellLine | null): string | null {
  if (patterns.length === 0 || line === null || line.commands.length === 0) return ''
  const other = line.commands.find(({ text }) => !patterns.some((pattern) => fitsCommand(pattern, text)))
  if (other !== undefined) return shown(other.text)
  return line.unclear === null ? null : `a line with ${line.unclear}`
}

function shown(command: string): string {
  return `"${command.length > 120 ? `${command.slice(0, 119)}…` : command}"`
}

/** What a limit to some files says to a call. */
function beyond(globs: readonly string[], { names: [name], file }: ToolUse): readonly Objection[] {
  const limit = `limits ${name} to ${globs.join(', ')}`
  if (file.where === 'nowhere') {
    return [{ decision: 'ask', says: `${limit}, and this call names no file` }]
  }
  if (file.where === 'inside' && anyGlob(globs)(file.path)) return []
  return [{ decision: 'deny', says: `${limit}, not to ${file.path || 'the whole project'}` }]
}
