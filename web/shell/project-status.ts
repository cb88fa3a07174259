import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ProjectStatus } from '../api/entities.ts'
import { startQuery } from '../live/query.ts'
import { base } from '../router/location.ts'

const read = signal<{ readonly of: string; readonly status: ProjectStatus | null }>({ of: '', status: null })

/** Who works on what, and what waits: for the bars around every view. Null until it is known of this project. */
export const projectStatus = computed(() => (read.value.of === base.value ? read.value.status : null))

/** The names of those who work now, each once. */
export const agents = computed(() => [
  ...new Set((projectStatus.value?.running ?? []).map(({ agent_name }) => agent_name)),
])

export function useProjectStatus(): void {
  useEffect(() => {
    const of = base.peek()
    const query = startQuery('status', {}, { unhurried: true })
    const stop = query.answer.subscribe((answer) => {
      read.value = { of, status: answer }
    })
    return () => {
      stop()
      query.stop()
      read.value = { of, status: null }
    }
  }, [])
}
