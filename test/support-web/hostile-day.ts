import type { Day } from './day.ts'

/** A text that would do something if it were taken as markup; `about` tells one from another. */
export function hostile(about: string): string {
  return `<img src=x onerror="window.ran=1"><script>window.ran=1</script>&lt;${about}`
}

const file = '<img src=x onerror=window.ran=1>.ts'

/** A day on which everything that anybody can say is hostile. Answers what must be seen as it was said. */
export async function fillHostileDay(day: Day): Promise<readonly string[]> {
  const said: string[] = []
  const say = (about: string) => {
    said.push(hostile(about))
    return hostile(about)
  }
  await day.person('taskman_phase_add', { id: 'P1', name: say('phase') })
  await day.person('taskman_milestone_add', { id: 'M1', phase: 'P1', name: say('milestone') })
  await day.person('taskman_task_add', { title: say('planned'), phase: 'P1' })
  const agent = day.agent(hostile('agent'))
  const { mission_id } = await agent('start_mission', {
    name: say('mission'),
    objective: say('objective'),
    scope: 'src/**',
  })
  const begun = { mission_id, agent_name: say('agent'), areas: ['src/**'] }
  const { task_id } = await agent('start_task', {
    ...begun,
    phase: 1,
    phase_name: say('mission phase'),
    name: say('task'),
    goal: say('goal'),
  })
  await agent('log_decision', {
    task_id,
    category: 'other',
    question: say('question'),
    options_considered: [hostile('option'), hostile('another option')],
    chosen: say('chosen'),
    reasoning: say('reasoning'),
    trade_offs: hostile('trade-offs'),
  })
  await agent('log_issue', {
    task_id,
    type: 'other',
    description: say('issue'),
    resolution: say('resolution'),
    requires_human_review: true,
  })
  await agent('log_milestone', { task_id, message: say('progress'), progress: 40 })
  day.write(`src/${file}`, `${say('content')}\n`)
  await agent('complete_task', {
    task_id,
    status: 'success',
    outcome: {
      summary: say('summary'),
      achievements: [hostile('achievement')],
      limitations: [hostile('limitation')],
      manual_review_needed: true,
      manual_review_reason: say('reason'),
      next_steps: hostile('next steps'),
    },
  })
  await agent('start_task', { ...begun, name: say('open task') })
  return [...said, file]
}
