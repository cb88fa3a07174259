import type { Day } from './day.ts'

/** What must be on a screen, as it was said. */
export interface Seen {
  readonly path: string
  readonly texts: readonly string[]
}

/** A text that would do something if it were taken as markup; `about` tells one from another. */
export function hostile(about: string): string {
  return `<img src=x onerror="window.ran=1"><script>window.ran=1</script>&lt;${about}`
}

const file = '<img src=x onerror=window.ran=1>.ts'
const all = (...abouts: readonly string[]) => abouts.map(hostile)

/** A day on which everything that anybody can say is hostile. */
export async function fillHostileDay(day: Day): Promise<readonly Seen[]> {
  await day.person('taskman_phase_add', { id: 'P1', name: hostile('phase') })
  await day.person('taskman_milestone_add', { id: 'M1', phase: 'P1', name: hostile('milestone') })
  await day.person('taskman_task_add', { title: hostile('planned'), phase: 'P1' })
  const agent = day.agent(hostile('agent'))
  const { mission_id } = await agent('start_mission', {
    name: hostile('mission'),
    objective: hostile('objective'),
    scope: 'src/**',
  })
  const begun = { mission_id, agent_name: hostile('agent'), areas: ['src/**'] }
  const { task_id } = await agent('start_task', {
    ...begun,
    phase: 1,
    phase_name: hostile('mission phase'),
    name: hostile('task'),
    goal: hostile('goal'),
  })
  await speak(day, task_id)
  day.write(`src/${file}`, `${hostile('content')}\n`)
  await agent('complete_task', {
    task_id,
    status: 'success',
    outcome: {
      summary: hostile('summary'),
      achievements: [hostile('achievement')],
      limitations: [hostile('limitation')],
      manual_review_needed: true,
      manual_review_reason: hostile('reason'),
      next_steps: hostile('next steps'),
    },
  })
  const open = await agent('start_task', { ...begun, name: hostile('open task') })
  await answerBlocker(day, open.task_id)
  const mission = `/missions/${mission_id}`
  const task = `/tasks/${task_id}`
  return [
    { path: '/', texts: all('issue', 'resolution', 'reason', 'summary', 'agent') },
    { path: '/board', texts: all('task', 'open task', 'planned') },
    { path: '/missions', texts: all('mission', 'objective') },
    { path: '/plan', texts: all('phase', 'milestone', 'planned') },
    { path: mission, texts: all('mission', 'objective', 'mission phase', 'task') },
    { path: `${mission}/board`, texts: all('task', 'open task') },
    { path: `${mission}/changes`, texts: [file] },
    {
      path: `${mission}/decisions`,
      texts: all('question', 'chosen', 'option', 'else', 'reasoning', 'trade-offs'),
    },
    { path: `${mission}/log`, texts: all('task', 'open task', 'agent') },
    { path: task, texts: all('task', 'goal', 'question', 'chosen', 'option', 'reasoning') },
    { path: task, texts: all('issue', 'resolution', 'progress', 'summary') },
    { path: task, texts: [...all('achievement', 'limitation', 'next steps'), file] },
    { path: `${task}/diff`, texts: [hostile('content'), file] },
    { path: '/log', texts: all('note', 'answered issue', 'answer') },
  ]
}

async function speak(day: Day, task_id: string): Promise<void> {
  const agent = day.agent(hostile('agent'))
  await agent('log_decision', {
    task_id,
    category: 'other',
    question: hostile('question'),
    options_considered: all('option', 'else'),
    chosen: hostile('chosen'),
    reasoning: hostile('reasoning'),
    trade_offs: hostile('trade-offs'),
  })
  await agent('log_issue', {
    task_id,
    type: 'other',
    description: hostile('issue'),
    resolution: hostile('resolution'),
    requires_human_review: true,
  })
  await agent('log_milestone', { task_id, message: hostile('progress'), progress: 40 })
  await day.person('taskman_task_note_add', { id: task_id, content: hostile('note') })
}

async function answerBlocker(day: Day, task_id: string): Promise<void> {
  const { items: before } = await day.person('inbox', {})
  await day.agent(hostile('agent'))('log_issue', {
    task_id,
    type: 'other',
    description: hostile('answered issue'),
    resolution: hostile('resolution'),
    requires_human_review: true,
  })
  const { items } = await day.person('inbox', {})
  const known = new Set(before.map(({ item_id }: { readonly item_id: string }) => item_id))
  const { item_id } = items.find((item: { readonly item_id: string }) => !known.has(item.item_id))
  await day.person('resolve', { id: item_id, answer: hostile('answer') })
}
