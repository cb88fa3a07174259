import type { Context } from '../../kernel/operations/operation.ts'
import type { HookEvent } from '../../sessions/domain/hook-event.ts'
import type { LocatedHookEvent } from '../../sessions/domain/turns-from-hook-events.ts'
import {
  locateHookEvents,
  type TreeStateResult,
  WorkTreeIndex,
} from '../../sessions/operations/locate-hook-events.ts'
import type { RemoteCalls } from './remote-calls.ts'

/** A turn begins or ends with these events, which are sent with the state of the work tree. */
const boundaries: readonly HookEvent['what']['kind'][] = [
  'session_started',
  'prompted',
  'agent_started',
  'agent_stopped',
  'stopped',
  'session_ended',
]

/**
 * Sends hook events of this machine to the project's server. Files are read here: the copies that hooks made, and the
 * state of each work tree where a turn may begin or end.
 */
export function serverRecorder(
  { send }: Pick<RemoteCalls, 'send'>,
  context: Context,
): (hookEvents: readonly HookEvent[]) => Promise<void> {
  const stateByTop = new Map<string, TreeStateResult>()
  return async (hookEvents) => {
    const { clock, copies, ids, witness } = context
    const trees = new WorkTreeIndex({ witness, nameOf: () => ids.next('turn'), now: () => clock.now() })
    const stateOf = async (top: string) => (stateByTop.get(top) ?? (await trees.state(top))).place
    const located = await locateHookEvents(hookEvents, { copies, trees, stateOf })
    const tops = new Set(located.flatMap(topsOfHookEvent))
    for (const top of tops) {
      const isNew = !stateByTop.has(top)
      if (isNew || located.some((one) => one.top === top && boundaries.includes(one.what.kind)))
        stateByTop.set(top, await trees.state(top))
    }
    const states = [...tops].flatMap((top) => {
      const state = stateByTop.get(top)
      return state ? [{ top, ...state }] : []
    })
    await send({
      operation: 'ingest_remote_events',
      input: { sentAt: clock.now(), hookEvents: located.map(redactBeforeSending), states },
      channel: 'stdio',
      caller: 'agent',
    })
  }
}

function topsOfHookEvent({ top, what }: LocatedHookEvent): readonly string[] {
  const isEdit = what.kind === 'edit_began' || what.kind === 'edit_ended'
  return isEdit ? [top, ...what.edits.map((edit) => edit.top)] : [top]
}

/** Removes prompts, command lines and transcript paths: these do not leave this machine. */
function redactBeforeSending({ what, ...own }: LocatedHookEvent): LocatedHookEvent {
  if (what.kind === 'prompted') return { ...own, what: { ...what, text: null } }
  if (what.kind === 'session_started') return { ...own, what: { ...what, transcript: null } }
  if (what.kind === 'command_began' || what.kind === 'command_ended')
    return {
      ...own,
      what: { ...what, program: what.program && (/^[\w.+-]{1,40}/.exec(what.program)?.[0] ?? null) },
    }
  return { ...own, what }
}
