import { type HookSituation, judgeToolUse } from '../../gate/domain/hook/judge.ts'
import { type Briefing, brief, openAttemptsReminder } from '../../gate/domain/hook/session-briefing.ts'
import { strictestDecision } from '../../gate/domain/hook/tool-use.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import {
  briefAnswer,
  formatHookDecision,
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
  /** Null without a record. Fails if the folder does not exist. */
  open(folder: string): Promise<HookProject | null>
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

/** Answers one call of a hook. Never throws: a failing hook denies only if a person chose that. */
export async function runHook(event: HookEventName, host: HookHost): Promise<HookOutput> {
  let call: HookCall | null = null
  try {
    call = readHookCall(await host.input())
    return { out: await answer(event, call, host), complaint: null }
  } catch (error) {
    const why = messageOf(error)
    const closed = event === 'pre-tool-use' && (await isClosedOnError(call?.folder ?? null, host))
    const reason = `The hook failed, and hook_on_error is "closed". ${why}`
    const out = closed ? formatHookDecision({ decision: 'deny', reason }, call?.client ?? 'claude') : ''
    return { out, complaint: `waymark hook ${event}: ${why}` }
  }
}

async function answer(event: HookEventName, call: HookCall, host: HookHost): Promise<string> {
  const { tool, client, stopHookActive } = call
  if ((event === 'pre-tool-use' && tool === null) || (event === 'stop' && stopHookActive)) return ''
  const folder = call.folder ?? host.workingFolder
  const project = await host.open(folder)
  if (project === null) return ''
  const view = project.look(async (seen) => {
    const { situation } = seen
    if (event === 'session-start') return briefAnswer(brief(await seen.briefing()), client)
    if (event === 'stop') return formatStopWarning(openAttemptsReminder(situation.attempts), client)
    if (tool === null) return ''
    const uses = toolUses(tool, client, { top: project.top, folder })
    return formatHookDecision(strictestDecision(uses.map((use) => judgeToolUse(situation, use))), client)
  })
  return rejectAfter(patience, view)
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
