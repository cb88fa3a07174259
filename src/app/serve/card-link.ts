import type { NoticeSender } from '../../notifications/operations/deliver.ts'

/** Where the dashboard shows what a notice is about: its card in the inbox, or the task or mission that ended. */
export function cardLink(base: () => string): NoticeSender['link'] {
  return (of) => {
    if (of.itemId !== null) return `${base()}/?select=${encodeURIComponent(of.itemId)}`
    if (of.taskId !== null) return `${base()}/tasks/${encodeURIComponent(of.taskId)}`
    return `${base()}/missions/${encodeURIComponent(of.missionId ?? '')}`
  }
}
