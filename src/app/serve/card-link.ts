import type { NoticeSender } from '../../notifications/operations/deliver.ts'

/** The dashboard link of a notification: its inbox item, or the task or mission that ended. */
export function cardLink(base: () => string): NoticeSender['link'] {
  return (of) => {
    if (of.itemId !== null) return `${base()}/?select=${encodeURIComponent(of.itemId)}`
    if (of.taskId !== null) return `${base()}/tasks/${encodeURIComponent(of.taskId)}`
    return `${base()}/missions/${encodeURIComponent(of.missionId ?? '')}`
  }
}
