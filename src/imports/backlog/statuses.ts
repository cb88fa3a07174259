import { done, dropped, inProgress, type StatusWords, toDo } from '../foreign-status.ts'

/** Backlog.md's own three, and what projects commonly configure. */
export const backlogStatuses: StatusWords = {
  todo: toDo,
  open: toDo,
  backlog: { ...toDo, keepWord: true },
  blocked: { ...toDo, keepWord: true },
  inprogress: inProgress,
  doing: inProgress,
  review: { ...inProgress, keepWord: true },
  inreview: { ...inProgress, keepWord: true },
  testing: { ...inProgress, keepWord: true },
  done,
  completed: done,
  closed: done,
  cancelled: dropped,
  canceled: dropped,
  wontdo: dropped,
}
