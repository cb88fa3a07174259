import type { InputOf, OperationName } from '../../../src/surfaces/http/client/client.ts'
import { call, told } from '../../api/call.ts'
import { showToast } from '../../shell/toasts.tsx'
import { freePhaseId, type PlanMove, type PlanRow } from './plan-rows.ts'

/** Changes of a plan, each one operation. A refusal is shown in the server's words. */
export interface PlanCommands {
  readonly move: (move: PlanMove | null) => void
  readonly rename: (row: PlanRow, name: string) => void
  readonly addTask: (
    title: string,
    home: { readonly phase: string; readonly milestone: string | null },
  ) => void
  readonly addPhase: (name: string, place: PhasePlace) => void
}

interface PhasePlace {
  /** The phases that are shown. */
  readonly phases: readonly { readonly id: string | null }[]
  /** The mission of the phase that it comes after. */
  readonly home: string | null
}

export function planCommands(mission: string | null, refresh: () => void): PlanCommands {
  const run = <Name extends OperationName>(name: Name, input: InputOf<Name>) => {
    call(name, input).then(refresh, (error: unknown) => showToast({ kind: 'refused', text: told(error) }))
  }
  return {
    move: (move) => {
      if (move) run('plan_move', move)
    },
    rename: (row, name) => {
      if (row.id === null) return
      if (row.kind === 'phase') run('taskman_phase_edit', { id: row.id, name })
      else if (row.kind === 'milestone') run('taskman_milestone_edit', { id: row.id, name })
      else run('taskman_task_edit', { id: row.id, title: name })
    },
    addTask: (title, { phase, milestone }) =>
      run('taskman_task_add', { title, phase, ...(milestone !== null && { milestone }) }),
    addPhase: (name, { phases, home }) => {
      const owner = mission === null ? home : mission === 'none' ? null : mission
      run('taskman_phase_add', {
        id: freePhaseId(phases),
        name,
        'sort-order': (phases.length + 1) * 10,
        ...(owner !== null && { mission: owner }),
      })
    },
  }
}
