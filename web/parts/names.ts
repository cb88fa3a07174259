import { useMemo } from 'preact/hooks'
import type { RunData } from '../api/entities.ts'
import { useQuery } from '../live/query.ts'

/** The names of missions, runs and tasks by their ids. */
export function useNames(): ReadonlyMap<string, string> {
  const { answer } = useQuery('search', {})
  const found = answer.value
  return useMemo(
    () =>
      new Map(
        [
          ...(found?.missions ?? []),
          // Without the state, which it had only until now.
          ...(found?.runs ?? []).map(({ id, name }) => ({ id, name: name.replace(/: [^:]*$/, '') })),
          ...(found?.tasks ?? []),
        ].map(({ id, name }) => [id, name]),
      ),
    [found],
  )
}

/** The name of the task or mission that a run belongs to, else the version of its process. */
export function runSubject(
  run: Pick<RunData, 'task_id' | 'mission_id' | 'process_version'>,
  names: ReadonlyMap<string, string>,
): string {
  return names.get(run.task_id ?? '') ?? names.get(run.mission_id ?? '') ?? `v${run.process_version}`
}
