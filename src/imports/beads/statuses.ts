import { done, inProgress, type StatusWords, toDo } from '../foreign-status.ts'

export const beadsStatuses: StatusWords = {
  open: toDo,
  blocked: { ...toDo, keepWord: true },
  deferred: { ...toDo, keepWord: true },
  pinned: { ...toDo, keepWord: true },
  inprogress: inProgress,
  hooked: { ...inProgress, keepWord: true },
  closed: done,
}
