/** The target of a resource URI. */
export type ResourceTarget =
  | { readonly kind: 'mission'; readonly id: string }
  | { readonly kind: 'task'; readonly id: string }
  | { readonly kind: 'changes'; readonly id: string; readonly cursor: string | null }
  | { readonly kind: 'run'; readonly id: string }
  /** The review comments of a task. */
  | { readonly kind: 'review'; readonly id: string }
  /** A line of a file: `src/auth.ts:12`. */
  | { readonly kind: 'line'; readonly place: string }

export const missionTemplate = 'waymark://missions/{id}'
export const taskTemplate = 'waymark://tasks/{id}'
export const changesTemplate = 'waymark://tasks/{id}/changes{?cursor}'
export const reviewTemplate = 'waymark://reviews/{task_id}'
export const whyTemplate = 'waymark://why/{+path}:{line}'
export const summaryTemplate = 'stategate://runs/{run_id}/summary'

export function missionUri(id: string): string {
  return `waymark://missions/${encodeURIComponent(id)}`
}

export function taskUri(id: string): string {
  return `waymark://tasks/${encodeURIComponent(id)}`
}

export function changesUri(id: string, cursor: string | null = null): string {
  return `${taskUri(id)}/changes${cursor === null ? '' : `?cursor=${cursor}`}`
}

export function reviewUri(taskId: string): string {
  return `waymark://reviews/${encodeURIComponent(taskId)}`
}

export function summaryUri(runId: string): string {
  return `stategate://runs/${encodeURIComponent(runId)}/summary`
}

const address =
  /^waymark:\/\/(missions|tasks|reviews)\/([^/?#]{1,300})(?:(\/changes)(?:\?cursor=([\w-]{1,1000}))?)?$/
const line = /^waymark:\/\/why\/([^?#]{1,4000}:\d{1,9})$/
const summary = /^stategate:\/\/runs\/([^/?#]{1,300})\/summary$/

/** Parses a URI; null if it is none of ours. */
export function targetOf(uri: string): ResourceTarget | null {
  const run = summary.exec(uri)?.[1]
  if (run !== undefined) {
    const id = decodeUriPart(run)
    return id === null ? null : { kind: 'run', id }
  }
  const place = line.exec(uri)?.[1]
  if (place !== undefined) {
    const named = decodeUriPart(place)
    return named === null ? null : { kind: 'line', place: named }
  }
  const [, collection, encoded, changes, cursor] = address.exec(uri) ?? []
  const id = encoded === undefined ? null : decodeUriPart(encoded)
  if (id === null) return null
  if (collection === 'reviews') return changes === undefined ? { kind: 'review', id } : null
  if (collection === 'missions') return changes === undefined ? { kind: 'mission', id } : null
  return changes === undefined ? { kind: 'task', id } : { kind: 'changes', id, cursor: cursor ?? null }
}

function decodeUriPart(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
