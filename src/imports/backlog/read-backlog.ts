import type { DocumentMilestone, DocumentTask } from '../../domain/plan/document/plan-document.ts'
import { distinctIds } from '../distinct-ids.ts'
import { type ImportResult, judged, type SourceText } from '../import-result.ts'
import { phaseStatus } from '../phase-status.ts'
import { unreadFields } from '../unread-fields.ts'
import { type BacklogFile, backlogFile, backlogKind } from './backlog-file.ts'
import { type BacklogTask, backlogTask } from './backlog-task.ts'
import { milestonesOf } from './milestones.ts'
import { taskNames } from './task-names.ts'

/** The phase that everything of a Backlog.md folder goes to. */
const phase = 'backlog'

/**
 * Reads the files of a Backlog.md folder: `tasks`, `completed`, `archive/tasks` (dropped unless done) and `milestones`.
 * Drafts are left out and reported; other files are passed over.
 */
export function readBacklog(files: readonly SourceText[]): ImportResult {
  const problems: string[] = []
  const notices = files
    .filter(({ path }) => backlogKind(path) === 'draft')
    .map(({ path }) => `${path}: left out: it is a draft.`)
  const read = files
    .filter(({ path }) => !['draft', 'other'].includes(backlogKind(path)))
    .flatMap((file) => backlogFile(file, problems) ?? [])
  const isMilestone = ({ kind }: BacklogFile): boolean => kind === 'milestone'
  const foreign = read
    .filter((file) => !isMilestone(file))
    .map((file) => backlogTask(file, notices))
    .sort(compareTasks)
  const { milestones, keyOf } = milestonesOf(read.filter(isMilestone), {
    phase,
    named: foreign.flatMap(({ milestone }) => milestone ?? []),
  })
  const { keys, notices: renamed } = distinctIds(foreign)
  notices.push(...renamed)
  const names = { keyOf, idOf: taskNames(foreign), notices }
  const tasks = foreign.map((task, at) => ({ ...documentTask(task, names), key: keys[at] ?? task.id }))
  const used = milestones.map((found) => withProgress(found, tasks))
  return judged({
    document: {
      phases:
        tasks.length + milestones.length === 0
          ? []
          : [{ key: phase, name: 'Backlog', status: phaseStatus(tasks), sortOrder: null, foreignId: null }],
      milestones: used,
      tasks,
    },
    places: {
      phases: [phase],
      milestones: milestones.map(({ key }) => key),
      tasks: foreign.map(({ place }) => place),
    },
    problems,
    notices: [...notices, ...unreadFields(read.map(({ fields }) => fields))],
  })
}

/** By number; of files with one id, the one that is still worked on comes first, and is what others mean by it. */
function compareTasks(one: BacklogTask, other: BacklogTask): number {
  const rank = ({ kind }: BacklogTask): number => ['task', 'completed', 'archived'].indexOf(kind)
  return (
    one.id.localeCompare(other.id, 'en', { numeric: true, sensitivity: 'accent' }) || rank(one) - rank(other)
  )
}

interface Names {
  readonly keyOf: (milestone: string) => string
  readonly idOf: (name: string) => string | null
  readonly notices: string[]
}

function documentTask(task: BacklogTask, { keyOf, idOf, notices }: Names): DocumentTask {
  const { id, place, kind: _, milestone, parent, dependsOn, ...rest } = task
  const known = (what: string, name: string): readonly string[] => {
    const found = idOf(name)
    if (found === null) notices.push(`${place}: left out: the ${what} ${name}, which is not among the files.`)
    return found === null ? [] : [found]
  }
  return {
    ...rest,
    key: id,
    phase,
    milestone: milestone === null ? null : keyOf(milestone),
    parent: parent === null ? null : (known('parent', parent)[0] ?? null),
    dependsOn: [...new Set(dependsOn.flatMap((name) => known('dependency on', name)))],
    foreignId: id,
  }
}

/** Backlog.md keeps no mark for it: a milestone is reached when it has tasks and all are done. */
function withProgress(milestone: DocumentMilestone, tasks: readonly DocumentTask[]): DocumentMilestone {
  const own = tasks.filter((task) => task.milestone === milestone.key)
  return { ...milestone, reached: own.length > 0 && own.every(({ status }) => status === 'done') }
}
