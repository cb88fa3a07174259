import { expect, test } from 'vitest'
import { eras } from './eras.ts'
import { runWaymark, startServer, temporaryRepository } from './server-process.ts'

test.each(eras)(
  'in %s an agent waits for an answer that a person gives elsewhere, and works meanwhile',
  async (_, open) => {
    const folder = temporaryRepository()
    const { call } = await open(startServer({ folder }))
    const said = async (name: string, input: object) => (await call(name, input)).structuredContent
    const { mission_id } = await said('start_mission', { name: 'Auth', objective: 'Log in' })
    const { task_id } = await said('start_task', { mission_id, name: 'Cookies', agent_name: 'lead' })
    const issue = { task_id, type: 'unclear_requirement', description: 'Which?', requires_human_review: true }
    await said('log_issue', issue)
    const outcome = { summary: 'Chosen.', no_change_reason: 'A choice.' }
    const ended = await said('complete_task', { task_id, status: 'success', outcome })
    const [{ item_id }] = ended.waits_for
    const { as_of } = await said('get_context', { mission_id, include: ['blockers'] })
    const waiting = said('get_context', {
      mission_id,
      include: ['blockers'],
      filter: { since: as_of },
      wait_seconds: 50,
    })
    expect((await said('list_missions', {})).missions).toHaveLength(1)
    expect(runWaymark(folder, 'inbox').items).toMatchObject([
      {
        item_id,
        mission_name: 'Auth',
        task_name: 'Cookies',
        reason: 'Which?',
        answers: [{ verb: 'Answer', command: `waymark resolve ${item_id} "<answer>"` }, { verb: 'Dismiss' }],
      },
    ])
    expect(runWaymark(folder, 'resolve', item_id, 'Cookies.')).toMatchObject({ status: 'resolved' })
    expect((await waiting).answered_blockers).toMatchObject([{ resolved: { answer: 'Cookies.' } }])
  },
)
