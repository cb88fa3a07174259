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

/** The state of a work tree in which a tool is about to be called. */
export interface HookSituation {
  readonly attempts: readonly HookAttempt[]
  readonly runs: readonly HookRun[]
  readonly settings: ReadonlyMap<SettingName, string>
}

/** The decision about a call. Null is no decision: the person's own permissions apply. */
export function judgeToolUse(situation: HookSituation, use: ToolUse): HookDecision | null {
  if (isOwnTool(use)) return null
  const { runs, attempts, settings } = situation
  // The project's folder in its work tree; without an attempt, the whole tree.
  const prefix = attempts[0]?.attempt.snapshot.prefix ?? ''
  return strictestDecision([
    ...runs.map((run) => judgePermissions(run, use, prefix)),
    judgeAreas(attempts, use, settingOf(settings, 'hook_out_of_scope')),
  ])
}

/** An active run whose state may restrict tools. */
export interface HookRun {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
}

/** An open attempt in the hook's work tree. */
export interface HookAttempt {
  readonly attempt: Attempt
  readonly task: string
  readonly scope: Scope
}

const maxShown = 8

/**
 * The decision about an edit by the scopes of open attempts: it must be in any of them. An attempt without a scope
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
  const taskList = tasks.slice(0, 3).join(', ') + (tasks.length > 3 ? ' and others' : '')
  return {
    decision: policy === 'deny' ? 'deny' : 'ask',
    reason: [
      `${file.path} is out of scope for the open work on ${taskList}: ${areas.slice(0, maxShown).join(', ')}${more}.`,
      `Stay in scope, or declare this file first: start_task { "parent_task_id": "${declared[0]?.attempt.taskId ?? ''}",`,
      `"name": "…", "areas": [${JSON.stringify(file.path)}] }.`,
    ].join(' '),
  }
}

interface HookObjection {
  readonly decision: HookDecision['decision']
  /** The restriction, as the rest of a sentence about the state. */
  readonly says: string
}

/** The decision by the state of a run: denied, then ask, then not allowed. An empty list restricts nothing. */
export function judgePermissions(run: HookRun, use: ToolUse, prefix = ''): HookDecision | null {
  const { record, definition } = run
  const permissions = stateNamed(definition, record.state)?.toolPermissions ?? null
  if (permissions === null) return null
  const matches = objections(permissions, use, prefix)
  if (matches.length === 0) return null
  const context = `Run ${record.id} (${definition.name}) is in the state "${record.state}", which`
  const decision = strictestDecision(
    matches.map(({ decision, says }) => ({ decision, reason: `${context} ${says}.` })),
  )
  return decision && { ...decision, reason: `${decision.reason} ${formatTransitionsOut(run)}` }
}

function objections(permissions: ToolPermissions, use: ToolUse, prefix: string): readonly HookObjection[] {
  const { allowed, denied, ask, paths } = permissions
  const [name] = use.names
  const line = use.command === null ? null : readShellLine(use.command)
  const isIn = (list: readonly string[]) =>
    list.some((pattern) => parseToolPattern(pattern)?.pattern === null && isTool(pattern, use))
  if (isIn(denied)) return [{ decision: 'deny', says: `denies ${name}` }]
  const deniedPart = firstMatchingCommand(patternsFor(denied, use), line)
  if (deniedPart !== null) return [{ decision: 'deny', says: `denies ${deniedPart}` }]
  const limits = paths
    .filter(({ tool }) => isTool(tool, use))
    .flatMap(({ globs }) => firstFileOutside(globs, use, prefix))
  const askedAbout = isIn(ask) ? name : firstMatchingCommand(patternsFor(ask, use), line)
  if (askedAbout !== null)
    return [...limits, { decision: 'ask', says: `needs a person's decision about ${askedAbout}` }]
  const isAllowed = allowed.length === 0 || isIn(allowed)
  if (!isAllowed) {
    const rule = `allows only ${allowed.join(', ')}, not`
    const refusedCommand = firstUnmatchedCommand(patternsFor(allowed, use), line)
    if (refusedCommand === null) return limits
    return [...limits, { decision: 'deny', says: `${rule} ${refusedCommand || name}` }]
  }
  // A line that cannot be parsed may contain a command that is denied, or needs a decision.
  if (line === null || line.unclear === null || patternsFor([...denied, ...ask], use).length === 0)
    return limits
  const says = `checks the commands of ${name}, and ${line.unclear} hides what this line runs`
  return [...limits, { decision: 'ask', says }]
}

function patternsFor(list: readonly string[], use: ToolUse): readonly string[] {
  return list.flatMap((entry) => {
    const parsed = parseToolPattern(entry)
    return parsed !== null && parsed.pattern !== null && isTool(parsed.tool, use) ? [parsed.pattern] : []
  })
}

/** The first command of a line that matches a pattern, in any quoting and with any wrapper. */
function firstMatchingCommand(patterns: readonly string[], line: ShellLine | null): string | null {
  const match = line?.commands.find(({ text, bare }) =>
    [text, bare, unwrapCommand(bare)].some((command) =>
      patterns.some((pattern) => isMatchingCommand(pattern, command)),
    ),
  )
  return match === undefined ? null : quotedCommand(match.text)
}

/**
 * The first part of a line that no pattern covers. Null if every command matches as written and the line is clear; empty if
 * there is no pattern.
 */
function firstUnmatchedCommand(patterns: readonly string[], line: ShellLine | null): string | null {
  if (patterns.length === 0 || line === null || line.commands.length === 0) return ''
  const unmatched = line.commands.find(
    ({ text }) => !patterns.some((pattern) => isMatchingCommand(pattern, text)),
  )
  if (unmatched !== undefined) return quotedCommand(unmatched.text)
  return line.unclear === null ? null : `a line with ${line.unclear}`
}

function quotedCommand(command: string): string {
  return `"${excerpt(command, 120)}"`
}

/** The decision by a limit to some files. */
function firstFileOutside(
  globs: readonly string[],
  { names: [name], file }: ToolUse,
  prefix: string,
): readonly HookObjection[] {
  const limit = `limits ${name} to ${globs.join(', ')}`
  if (file.where === 'nowhere') {
    return [{ decision: 'ask', says: `${limit}, and this call names no file` }]
  }
  const path = file.where === 'inside' ? pathInsidePrefix(file.path, prefix) : null
  // A list that cannot be read limits to nothing.
  const isUsable = globs.every((glob) => patternProblem(glob) === null)
  if (path !== null && path !== '' && isUsable && pathPatterns(globs).matches(path)) return []
  return [{ decision: 'deny', says: `${limit}, not to ${file.path || 'the whole project'}` }]
}

const maxNamed = 4

/** The next steps of a run, as a sentence. */
export function formatTransitionsOut({ record, definition }: HookRun): string {
  const leaving = definition.transitions.filter(
    (transition) =>
      [record.state, '*'].includes(transition.from) && transition.to !== record.state && !transition.escape,
  )
  const steps = [...new Set(leaving.map((transition) => formatTransition(definition, transition)))]
  const hint = `\`waymark run show ${record.id}\` says what is missing.`
  if (steps.length === 0) return `No event leads out of it. ${hint}`
  const more = steps.length > maxNamed ? ' and more' : ''
  return `Next: state_gate_emit_event with ${steps.slice(0, maxNamed).join(', or ')}${more}. ${hint}`
}

function formatTransition(
  definition: ProcessDefinition,
  { event, to, allowedRoles }: TransitionDefinition,
): string {
  const roles = allowedRoles ?? eventNamed(definition, event)?.allowedRoles ?? []
  const senders = roles.includes('*') || roles.length === 0 ? '' : `, by ${roles.join(' or ')}`
  return `${event} (to "${to}"${senders})`
}
