import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ProjectStatus } from '../api/answers.ts'
import { startQuery } from '../live/query.ts'

/** Who works on what, and what waits: for the bars around every view. Null until it is known. */
export const projectStatus = signal<ProjectStatus | null>(null)

/** The names of those who work now, each once. */
export const agents = computed(() => [
  ...new Set((projectStatus.value?.running ?? []).map(({ agent_name }) => agent_name)),
])

export function useProjectStatus(): void {
  useEffect(() => {
    const query = startQuery('status', {})
    const stop = query.answer.subscribe((answer) => {
      projectStatus.value = answer
    })
    return () => {
      stop()
      query.stop()
      projectStatus.value = null
    }
  }, [])
}
