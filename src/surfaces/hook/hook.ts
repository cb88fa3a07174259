import { type Briefing, brief, openAttemptsReminder } from '../../gate/domain/hook/brief.ts'
import { type HookSituation, judgeToolUse } from '../../gate/domain/hook/judge.ts'
import { strictestDecision } from '../../gate/domain/hook/tool-use.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import {
  briefAnswer,
  farewellAnswer,
  type HookCall,
  type HookEventName,
  readHookCall,
  verdictAnswer,
} from './protocol.ts'
import { toolUses } from './tool-use.ts'

/** The project that a hook speaks for. */
export interface HookProject {
  /** The top of the work tree that it acts for. */
  readonly top: string
  /** Looks at what holds there now. */
  look<Result>(judge: (seen: HookState) => Promise<Result>): Promise<Result>
  /** Whether a person wants a hook that fails to stand in the way. */
  isClosed(): Promise<boolean>
}

export interface HookState {
  readonly situation: HookSituation
  briefing(): Promise<Briefing>
}

/** What a hook needs from the program around it. */
export interface HookHost {
  /** Where the hook itself was started. */
  readonly workingFolder: string
  /** What the client says. */
  input(): Promise<string>
  /** Null where nothing was ever recorded. Fails where there is no such folder. */
  open(folder: string): Promise<HookProject | null>
}

export interface HookOutput {
  /** For the client; empty when there is nothing to say. */
  readonly out: string
  /** One line for whoever looks for the reason of a failure. */
  readonly complaint: string | null
}

// A client waits for its hook, so a locked database is not waited for as long as elsewhere. Milliseconds.
const patience = 1500
const patienceAfterFailure = 300

/** Answers one call of a hook. Never throws: a hook that fails says so, and stands in the way only if a person wants it. */
export async function runHook(event: HookEventName, around: HookHost): Promise<HookOutput> {
  let call: HookCall | null = null
  try {
    call = readHookCall(await around.input())
    return { out: await answer(event, call, around), complaint: null }
  } catch (error) {
    const why = messageOf(error)
    const closed = event === 'pre-tool-use' && (await isClosedOnError(call?.folder ?? null, around))
    const reason = `The hook failed, and hook_on_error is "closed". ${why}`
    const out = closed ? verdictAnswer({ decision: 'deny', reason }, call?.client ?? 'claude') : ''
    return { out, complaint: `waymark hook ${event}: ${why}` }
  }
}

async function answer(event: HookEventName, call: HookCall, around: HookHost): Promise<string> {
  const { tool, client, stopHookActive } = call
  if ((event === 'pre-tool-use' && tool === null) || (event === 'stop' && stopHookActive)) return ''
  const folder = call.folder ?? around.workingFolder
  const project = await around.open(folder)
  if (project === null) return ''
  const view = project.look(async (seen) => {
    const { situation } = seen
    if (event === 'session-start') return briefAnswer(brief(await seen.briefing()), client)
    if (event === 'stop') return farewellAnswer(openAttemptsReminder(situation.attempts), client)
    if (tool === null) return ''
    const uses = toolUses(tool, client, { top: project.top, folder })
    return verdictAnswer(strictestDecision(uses.map((use) => judgeToolUse(situation, use))), client)
  })
  return rejectAfter(patience, view)
}

/** What a person set for a failure, if it can be read; whatever cannot be read leaves the way open. */
async function isClosedOnError(folder: string | null, around: HookHost): Promise<boolean> {
  for (const start of new Set([folder ?? around.workingFolder, around.workingFolder])) {
    try {
      const project = await around.open(start)
      const isClosed = await rejectAfter(patienceAfterFailure, project?.isClosed() ?? null)
      if (isClosed !== null) return isClosed
    } catch {}
  }
  return false
}

/** A result that is there in time, or UNAVAILABLE. */
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
