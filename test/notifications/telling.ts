import { cardLink } from '../../src/app/serve/card-link.ts'
import {
  deliverNotice,
  leaseDueNotices,
  type NoticeSender,
} from '../../src/notifications/operations/deliver.ts'
import {
  type Answer,
  openProject,
  type ProjectOptions,
  person,
  type TestProject,
} from '../support/project.ts'

export const base = 'http://127.0.0.1:4747/p/demo'

export interface TellingProject extends TestProject {
  readonly sender: NoticeSender
  /** What a running server does at one look: whatever is due is sent. Answers how many were tried. */
  readonly tell: () => Promise<number>
  readonly asPerson: (name: string, input?: object) => Promise<Answer>
  /** A question of an agent, which waits for a person. Answers the inbox item's id. */
  readonly ask: (question: string) => Promise<string>
}

/** A project with an open task, whose people can be told. */
export async function openTelling(options: ProjectOptions = {}): Promise<TellingProject> {
  const project = await openProject({ git: false, isOnMachine: false, ...options })
  const { call, context } = project
  const sender: NoticeSender = { ...context, project: () => 'demo', link: cardLink(() => base) }
  const { task_id } = await call('start_task', { name: 'Draw the map', goal: 'A map', areas: ['src'] })
  let position = 0
  return {
    ...project,
    sender,
    tell: async () => {
      const due = await leaseDueNotices(sender, position)
      position = due.position
      for (const taken of due.leasedNotices) await deliverNotice(sender, taken, AbortSignal.timeout(60_000))
      return due.leasedNotices.length
    },
    asPerson: (name, input = {}) => call(name, input, { actor: person }),
    ask: async (question) => {
      const answer = await call('log_issue', {
        task_id,
        type: 'unclear_requirement',
        description: question,
        requires_human_review: true,
      })
      const { items } = await call('inbox', { limit: 200 })
      const item = items.find(({ issue_id }: Answer) => issue_id === answer.issue_id)
      if (!item) throw new Error(`no inbox item for ${JSON.stringify(answer)}`)
      return item.item_id
    },
  }
}
