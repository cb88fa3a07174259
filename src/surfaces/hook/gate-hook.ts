import { mayNeedGuard } from '../../gate/domain/git-guard/guarded-command.ts'
import { type HookSituation, judgeToolUse } from '../../gate/domain/hook/judge.ts'
import { type Briefing, brief, openAttemptsReminder } from '../../gate/domain/hook/session-briefing.ts'
import { type HookDecision, strictestDecision } from '../../gate/domain/hook/tool-use.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import type { GitGuardResult } from '../../gate/operations/guard-git.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import type { JsonObject } from '../../kernel/json.ts'
import {
  briefAnswer,
  formatHookDecision,
  formatHookNote,
  formatStopRefusal,
  formatStopWarning,
  type HookCall,
  type HookEventName,
  readHookCall,
} from './protocol.ts'
import { toolUses } from './tool-use.ts'

/** The project of a hook. */
export interface HookProject {
  /** The top folder of its work tree. */
  readonly top: string
  /** Reads its current state. */
  look<Result>(judge: (seen: HookState) => Promise<Result>): Promise<Result>
  /** Whether a failing hook denies, as a person chose. */
  isClosed(): Promise<boolean>
  /** Why the open work of a stopping agent would be contradicted; absent where the record is elsewhere. */
  checkStop?(stopping: Pick<GuardRequest, 'folder' | 'payload'>): Promise<readonly string[]>
  /** Guards the git commands of a shell command. */
  guard(command: GuardRequest): Promise<GitGuardResult>
}

export interface GuardRequest {
  readonly script: string
  readonly folder: string
  /** The client's input. */
  readonly payload: JsonObject
  readonly settings: HookSituation['settings']
}

export interface HookState {
  readonly situation: HookSituation
  briefing(): Promise<Briefing>
}

/** The parts of the program that a hook needs. */
export interface HookHost {
  /** The folder where the hook was started. */
  readonly workingFolder: string
  /** The input from the client. */
  input(): Promise<string>
  /** Asks a server of the project that runs here; null without an answer. Fails if the folder does not exist. */
  ask?(question: HookQuestion): Promise<string | null>
  /** Null without a record. Fails if the folder does not exist. */
  open(folder: string): Promise<HookProject | null>
}

/** A call of a hook, as a server is asked to answer it. */
export interface HookQuestion {
  readonly event: HookEventName
  /** The client's input: as text, and parsed. */
  readonly input: string
  readonly payload: JsonObject
  /** The agent's working directory. */
  readonly folder: string
}

export interface HookOutput {
  /** The answer for the client; may be empty. */
  readonly out: string
  /** One line with the reason of a failure. */
  readonly complaint: string | null
}

// In milliseconds: shorter than elsewhere, because a client waits for its hook.
const patience = 1500
const patienceAfterFailure = 300
const patienceWithGuard = 4000

/** Answers one call of a hook. Never throws: a failing hook denies only if a person chose that. */
export async function runHook(event: HookEventName, host: HookHost): Promise<HookOutput> {
  let call: HookCall | null = null
  try {
    const input = await host.input()
    call = readHookCall(input)
    return { out: await answer(event, { ...call, input }, host), complaint: null }
  } catch (error) {
    const why = messageOf(error)
    const closed = event === 'pre-tool-use' && (await isClosedOnError(call?.folder ?? null, host))
    const reason = `The hook failed, and hook_on_error is "closed". ${why}`
    const out = closed ? formatHookDecision({ decision: 'deny', reason }, call?.client ?? 'claude') : ''
    return { out, complaint: `waymark hook ${event}: ${why}` }
  }
}

async function answer(
  event: HookEventName,
  call: HookCall & Pick<HookQuestion, 'input'>,
  host: HookHost,
): Promise<string> {
  const { tool, client, stopHookActive, input, payload } = call
  if ((event === 'pre-tool-use' && tool === null) || (event === 'stop' && stopHookActive)) return ''
  const folder = call.folder ?? host.workingFolder
  const answered = await host.ask?.({ event, input, payload, folder })
  if (answered !== undefined && answered !== null) return answered
  const project = await host.open(folder)
  if (project === null) return ''
  if (event === 'pre-tool-use') return tool === null ? '' : judgeCall({ ...call, tool }, folder, project)
  if (event === 'stop') return answerStop(call, folder, project)
  return rejectAfter(
    patience,
    project.look(async (seen) => briefAnswer(brief(await seen.briefing()), client)),
  )
}

/** A person is warned of open work; by a setting, the agent is stopped once if its work would be contradicted. */
async function answerStop(
  { client, payload }: HookCall,
  folder: string,
  project: HookProject,
): Promise<string> {
  const view = project.look(async ({ situation }) => situation)
  const { attempts, settings } = await rejectAfter(patience, view)
  const isChecked = settingOf(settings, 'stop_hook') === 'block_once' && attempts.length > 0
  const reasons = isChecked ? await rejectAfter(patience, project.checkStop?.({ folder, payload }) ?? []) : []
  if (reasons.length > 0) return formatStopRefusal(reasons.join('\n'), client)
  return formatStopWarning(openAttemptsReminder(attempts), client)
}

async function judgeCall(
  { tool, client, payload }: HookCall & { readonly tool: NonNullable<HookCall['tool']> },
  folder: string,
  project: HookProject,
): Promise<string> {
  const uses = toolUses(tool, client, { top: project.top, folder })
  const view = project.look(async ({ situation }) => ({
    decision: strictestDecision(uses.map((use) => judgeToolUse(situation, use))),
    settings: situation.settings,
  }))
  const { decision, settings } = await rejectAfter(patience, view)
  const scripts = uses.flatMap(({ command }) => (command !== null && mayNeedGuard(command) ? [command] : []))
  const script = scripts.join('\n')
  if (scripts.length === 0 || settingOf(settings, 'guard_git') === 'off')
    return formatHookDecision(decision, client)
  const guarded = await rejectAfter(patienceWithGuard, project.guard({ script, folder, payload, settings }))
  const both: HookDecision | null = strictestDecision([decision, guarded.decision])
  if (both !== null || guarded.missing === null) return formatHookDecision(both, client)
  return formatHookNote(`no snapshot was kept before this command: ${guarded.missing}`, client)
}

/** Whether a hook denies after a failure; false if that setting cannot be read. */
async function isClosedOnError(folder: string | null, host: HookHost): Promise<boolean> {
  for (const start of new Set([folder ?? host.workingFolder, host.workingFolder])) {
    try {
      const project = await host.open(start)
      const isClosed = await rejectAfter(patienceAfterFailure, project?.isClosed() ?? null)
      if (isClosed !== null) return isClosed
    } catch {}
  }
  return false
}

/** A result within the timeout, else UNAVAILABLE. */
async function rejectAfter<Result>(milliseconds: number, result: Promise<Result> | Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const failure = new Failure('UNAVAILABLE', `The database did not answer in ${milliseconds} ms.`, {
      reason: 'database_timeout',
    })
    timer = setTimeout(() => reject(failure), milliseconds)
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}
