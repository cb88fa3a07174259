import { pathInsidePrefix, pathPatterns, patternProblem } from '../../../kernel/path-pattern.ts'
import { excerpt } from '../../../kernel/text.ts'
import { isDeclared, judgePath, type Scope } from '../../../track/domain/scope/scope.ts'
import type { Attempt } from '../../../track/domain/task.ts'
import {
  eventNamed,
  type ProcessDefinition,
  stateNamed,
  type ToolPermissions,
  type TransitionDefinition,
} from '../definition.ts'
import type { RunRecord, SettingName } from '../run.ts'
import { settingOf } from '../settings.ts'
import { isMatchingCommand, readShellLine, type ShellLine, unwrapCommand } from './shell-line.ts'
import {
  type HookDecision,
  isOwnTool,
  isTool,
  parseToolPattern,
  strictestDecision,
  type ToolUse,
} from './tool-use.ts'

/** What holds in a work tree while a tool is about to be called there. */
export interface HookSituation {
  readonly attempts: readonly HookAttempt[]
  readonly runs: readonly HookRun[]
  readonly settings: ReadonlyMap<SettingName, string>
}

/** What is said to a call. Null is no decision, and never a yes: the person's own permissions stay as they are. */
export function judgeToolUse(situation: HookSituation, use: ToolUse): HookDecision | null {
  if (isOwnTool(use)) return null
  const { runs, attempts, settings } = situation
  // Of a project in a folder of its work tree; without an attempt it is the whole tree.
  const prefix = attempts[0]?.attempt.snapshot.prefix ?? ''
  return strictestDecision([
    ...runs.map((run) => judgePermissions(run, use, prefix)),
    judgeAreas(attempts, use, settingOf(settings, 'hook_outside_areas')),
  ])
}

/** A run that says what may be done now. */
export interface HookRun {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
}

/** An open attempt in the work tree that a hook acts for. */
export interface HookAttempt {
  readonly attempt: Attempt
  readonly task: string
  readonly scope: Scope
}

const maxShown = 8

/**
 * What the areas of the open attempts say to an edit: it has to be in those of any of them. An attempt without areas
 * restricts nothing, and files outside the work tree are not judged.
 */
function judgeAreas(
  attempts: readonly HookAttempt[],
  { edits, file }: ToolUse,
  policy: string,
): HookDecision | null {
  const declared = attempts.filter(({ scope }) => isDeclared(scope))
  if (policy === 'ignore' || !edits || file.where !== 'inside' || declared.length === 0) return null
  if (declared.some(({ scope }) => judgePath(scope, file.path) !== 'out')) return null
  const areas = [...new Set(declared.flatMap(({ attempt }) => attempt.areas))]
  const more = areas.length > maxShown ? ' and more' : ''
  const tasks = declared.map(({ attempt, task }) => `"${task}" (${attempt.taskId})`)
  const whose = tasks.slice(0, 3).join(', ') + (tasks.length > 3 ? ' and others' : '')
  return {
    decision: policy === 'deny' ? 'deny' : 'ask',
    reason: [
      `${file.path} is out of scope for the open work on ${whose}: ${areas.slice(0, maxShown).join(', ')}${more}.`,
      `Stay in scope, or declare this file first: start_task { "parent_task_id": "${declared[0]?.attempt.taskId ?? ''}",`,
      `"name": "…", "areas": [${JSON.stringify(file.path)}] }.`,
    ].join(' '),
  }
}

interface HookObjection {
  readonly decision: HookDecision['decision']
  /** What the state does, as the rest of a sentence. */
  readonly says: string
}

/** What the state of a run says to a call: denied before asked before not allowed. An empty list restricts nothing. */
export function judgePermissions(run: HookRun, use: ToolUse, prefix = ''): HookDecision | null {
  const { record, definition } = run
  const permissions = stateNamed(definition, record.state)?.toolPermissions ?? null
  if (permissions === null) return null
  const found = objections(permissions, use, prefix)
  if (found.length === 0) return null
  const where = `Run ${record.id} (${definition.name}) is in the state "${record.state}", which`
  const verdict = strictestDecision(
    found.map(({ decision, says }) => ({ decision, reason: `${where} ${says}.` })),
  )
  return verdict && { ...verdict, reason: `${verdict.reason} ${formatTransitionsOut(run)}` }
}

function objections(permissions: ToolPermissions, use: ToolUse, prefix: string): readonly HookObjection[] {
  const { allowed, denied, ask, paths } = permissions
  const [name] = use.names
  const line = use.command === null ? null : readShellLine(use.command)
  const isIn = (list: readonly string[]) =>
    list.some((meant) => parseToolPattern(meant)?.pattern === null && isTool(meant, use))
  if (isIn(denied)) return [{ decision: 'deny', says: `denies ${name}` }]
  const deniedPart = firstMatchingCommand(patternsFor(denied, use), line)
  if (deniedPart !== null) return [{ decision: 'deny', says: `denies ${deniedPart}` }]
  const limits = paths
    .filter(({ tool }) => isTool(tool, use))
    .flatMap(({ globs }) => firstFileOutside(globs, use, prefix))
  const asked = isIn(ask) ? name : firstMatchingCommand(patternsFor(ask, use), line)
  if (asked !== null)
    return [...limits, { decision: 'ask', says: `needs a person's decision about ${asked}` }]
  const isAllowed = allowed.length === 0 || isIn(allowed)
  if (!isAllowed) {
    const only = `allows only ${allowed.join(', ')}, not`
    const refused = firstUnmatchedCommand(patternsFor(allowed, use), line)
    if (refused === null) return limits
    return [...limits, { decision: 'deny', says: `${only} ${refused || name}` }]
  }
  // What cannot be told apart may hold what is denied, or asked about.
  if (line === null || line.unclear === null || patternsFor([...denied, ...ask], use).length === 0)
    return limits
  const says = `checks the commands of ${name}, and ${line.unclear} hides what this line runs`
  return [...limits, { decision: 'ask', says }]
}

function patternsFor(list: readonly string[], use: ToolUse): readonly string[] {
  return list.flatMap((written) => {
    const meant = parseToolPattern(written)
    return meant !== null && meant.pattern !== null && isTool(meant.tool, use) ? [meant.pattern] : []
  })
}

/** The first command of a line that a pattern fits, however it is quoted and whatever stands before its name. */
function firstMatchingCommand(patterns: readonly string[], line: ShellLine | null): string | null {
  const found = line?.commands.find(({ text, bare }) =>
    [text, bare, unwrapCommand(bare)].some((written) =>
      patterns.some((pattern) => isMatchingCommand(pattern, written)),
    ),
  )
  return found === undefined ? null : quotedCommand(found.text)
}

/**
 * What of a line the patterns do not cover: null when every command fits one exactly as it is written, and nothing else
 * happens; empty where there is no pattern.
 */
function firstUnmatchedCommand(patterns: readonly string[], line: ShellLine | null): string | null {
  if (patterns.length === 0 || line === null || line.commands.length === 0) return ''
  const other = line.commands.find(
    ({ text }) => !patterns.some((pattern) => isMatchingCommand(pattern, text)),
  )
  if (other !== undefined) return quotedCommand(other.text)
  return line.unclear === null ? null : `a line with ${line.unclear}`
}

function quotedCommand(command: string): string {
  return `"${excerpt(command, 120)}"`
}

/** What a limit to some files says to a call. */
function firstFileOutside(
  globs: readonly string[],
  { names: [name], file }: ToolUse,
  prefix: string,
): readonly HookObjection[] {
  const limit = `limits ${name} to ${globs.join(', ')}`
  if (file.where === 'nowhere') {
    return [{ decision: 'ask', says: `${limit}, and this call names no file` }]
  }
  const own = file.where === 'inside' ? pathInsidePrefix(file.path, prefix) : null
  // A list that cannot be read limits to nothing.
  const isUsable = globs.every((glob) => patternProblem(glob) === null)
  if (own !== null && own !== '' && isUsable && pathPatterns(globs).matches(own)) return []
  return [{ decision: 'deny', says: `${limit}, not to ${file.path || 'the whole project'}` }]
}

const maxNamed = 4

/** How a run gets out of its state, as a sentence. */
export function formatTransitionsOut({ record, definition }: HookRun): string {
  const leaving = definition.transitions.filter(
    (way) => [record.state, '*'].includes(way.from) && way.to !== record.state && !way.escape,
  )
  const named = [...new Set(leaving.map((transition) => formatTransition(definition, transition)))]
  const see = `\`waymark run show ${record.id}\` says what is missing.`
  if (named.length === 0) return `No event leads out of it. ${see}`
  const more = named.length > maxNamed ? ' and more' : ''
  return `Next: state_gate_emit_event with ${named.slice(0, maxNamed).join(', or ')}${more}. ${see}`
}

function formatTransition(
  definition: ProcessDefinition,
  { event, to, allowedRoles }: TransitionDefinition,
): string {
  const roles = allowedRoles ?? eventNamed(definition, event)?.allowedRoles ?? []
  const who = roles.includes('*') || roles.length === 0 ? '' : `, by ${roles.join(' or ')}`
  return `${event} (to "${to}"${who})`
}
