import type { Context } from '../../kernel/operations/operation.ts'
import type { HookEvent } from '../../sessions/domain/hook-event.ts'
import type { LocatedHookEvent } from '../../sessions/domain/turns-from-hook-events.ts'
import {
  locateHookEvents,
  type TreeStateResult,
  WorkTreeIndex,
} from '../../sessions/operations/locate-hook-events.ts'
import type { RemoteCalls } from './remote-calls.ts'

/** What belongs to a turn is sent with the state of its work tree; a turn begins and ends with these. */
const boundaries: readonly HookEvent['what']['kind'][] = [
  'session_started',
  'prompted',
  'agent_started',
  'agent_stopped',
  'stopped',
  'session_ended',
]

/**
 * Sends what hooks told on this machine to the project's server. What stands in files is measured here: the copies that
 * hooks made are taken in, and a state of each work tree is recorded where a turn may begin or end.
 */
export function serverRecorder(
  { send }: Pick<RemoteCalls, 'send'>,
  context: Context,
): (hookEvents: readonly HookEvent[]) => Promise<void> {
  const known = new Map<string, TreeStateResult>()
  return async (hookEvents) => {
    const { clock, copies, ids, witness } = context
    const trees = new WorkTreeIndex({ witness, nameOf: () => ids.next('turn'), now: () => clock.now() })
    const stateOf = async (top: string) => (known.get(top) ?? (await trees.state(top))).place
    const placed = await locateHookEvents(hookEvents, { copies, trees, stateOf })
    const tops = new Set(placed.flatMap(topsOfHookEvent))
    for (const top of tops) {
      const isNew = !known.has(top)
      if (isNew || placed.some((one) => one.top === top && boundaries.includes(one.what.kind)))
        known.set(top, await trees.state(top))
    }
    const states = [...tops].flatMap((top) => {
      const state = known.get(top)
      return state ? [{ top, ...state }] : []
    })
    await send({
      operation: 'ingest_remote_events',
      input: { at: clock.now(), hookEvents: placed.map(redactBeforeSending), states },
      channel: 'stdio',
      as: 'agent',
    })
  }
}

function topsOfHookEvent({ top, what }: LocatedHookEvent): readonly string[] {
  const isEdit = what.kind === 'edit_began' || what.kind === 'edit_ended'
  return isEdit ? [top, ...what.edits.map((edit) => edit.top)] : [top]
}

/** What leaves this machine: no text of anybody, no line of a command, no place of a transcript. */
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
