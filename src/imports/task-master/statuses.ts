import { done, dropped, inProgress, type StatusWords, toDo } from '../foreign-status.ts'

export const taskMasterStatuses: StatusWords = {
  pending: toDo,
  inprogress: inProgress,
  review: { ...inProgress, keepWord: true },
  done,
  completed: done,
  deferred: { ...toDo, keepWord: true },
  blocked: { ...toDo, keepWord: true },
  cancelled: dropped,
  canceled: dropped,
}
