import { type Agent, type Cast, say } from './cast.ts'
import { changeUnderControl } from './change-under-control.ts'
import { documentWork } from './document-work.ts'
import { planMission } from './plan-mission.ts'
import { reportMission } from './report-mission.ts'
import { scopeMission } from './scope-mission.ts'

/** The day: one agent plans, then five work side by side, each with a server process of its own. */
export async function liveThroughDay(cast: Cast): Promise<void> {
  const { ground, think } = cast
  const [scope, documents, reports] = ['scope', 'documents', 'reports'].map((name) => ground.workTree(name))
  if (!scope || !documents || !reports) throw new Error('three work trees were made')
  const [ada, bo, cleo, dai, eli] = await Promise.all([
    cast.join('claude-code', scope),
    cast.join('codex', ground.main),
    cast.join('claude-code', ground.main),
    cast.join('cursor', documents),
    cast.join('gemini-cli', reports),
  ])
  say('ada writes the plan')
  await writePlan(cast, ada)
  await think(10)
  const beside: Promise<void>[] = []
  const after = async (seconds: number, name: string, work: () => Promise<void>) => {
    await think(seconds)
    say(`${name} begins`)
    await work()
    say(`${name} is done for the day`)
  }
  await Promise.all([
    after(0, 'ada', () => scopeMission(cast, ada, scope)),
    after(40, 'cleo', () =>
      planMission(cast, cleo, (missionId) => {
        beside.push(after(5, 'dai', () => documentWork(cast, dai, { tree: documents, missionId })))
      }),
    ),
    after(110, 'eli', () => reportMission(cast, eli, reports)),
    after(175, 'bo', () => changeUnderControl(cast, bo)),
  ])
  await Promise.all(beside)
}

const phases = [
  ['P1', 'Scope', 'Verdicts can be trusted', 'Every rule of an area has a test'],
  ['P2', 'Plan', 'Ready work is found', 'A plan of a thousand tasks answers at once'],
  ['P3', 'Track', 'Tasks end with evidence', 'No report without two snapshots'],
  ['P4', 'Gate', 'A run moves by its guards', 'The shipped processes play through'],
  ['P5', 'Release', 'Anybody can install it', 'npx waymark starts on a clean machine'],
] as const

/** Short name, phase, title, role, and what it waits for. */
const tasks = [
  ['s1', 'P1', 'Test the verdict on changed files', 'qa-engineer', []],
  ['s2', 'P1', 'Find words in paths with one expression each', 'developer', ['s1']],
  ['s3', 'P1', 'Leave Unicode classes out for ASCII paths', 'developer', ['s2']],
  ['s4', 'P1', 'Read brackets in an area as a class or as a name', 'developer', ['s3']],
  ['p1', 'P2', 'Name what can happen to a plan', 'software-architect', []],
  ['p2', 'P2', 'Find circles among dependencies', 'developer', ['p1']],
  ['p3', 'P2', 'Order ready work by the chain that waits for it', 'developer', ['p2']],
  ['p4', 'P2', 'Keep only the remote machines of unfinished work', 'developer', ['p3']],
  ['p5', 'P2', 'Outline a plan', 'developer', ['p3']],
  ['p6', 'P2', 'Draw a plan in Mermaid and DOT', 'developer', ['p4', 'p5']],
  ['p7', 'P2', 'Describe a plan as a neutral document', 'software-architect', ['p1']],
  ['p8', 'P2', 'Name everything that is wrong with a document', 'developer', ['p7']],
  ['t1', 'P3', 'Attribute changes to the attempts that were open', 'developer', []],
  ['t2', 'P3', 'Start a task from a situation', 'developer', ['t1', 'p3']],
  ['t3', 'P3', 'Report what an attempt changed', 'developer', ['s1']],
  ['t4', 'P3', 'Complete a task with its evidence', 'developer', ['t2', 't3']],
  ['t5', 'P3', 'Log issues, and hold what needs a person', 'developer', ['t2']],
  ['t6', 'P3', 'Notice attempts that fell silent', 'developer', ['t4']],
  ['g1', 'P4', 'Read definitions strictly', 'developer', ['p7']],
  ['g2', 'P4', 'Judge guards, each in its own file', 'developer', ['g1', 't4']],
  ['g3', 'P4', 'Move a run by its events', 'developer', ['g2']],
  ['g4', 'P4', 'Simulate a process before it is used', 'developer', ['g3']],
  ['g5', 'P4', 'Look for states that nothing reaches', 'qa-engineer', ['g1']],
  ['r1', 'P5', 'Write the guides', 'documentation-writer', ['p6', 't4']],
  ['r2', 'P5', 'Pack it for npm', 'devops-engineer', ['g3', 'r1']],
  ['r3', 'P5', 'Tell people', 'community-manager', ['r2']],
] as const

/** An agent writes the plan of the project down. */
async function writePlan(cast: Cast, agent: Agent): Promise<void> {
  for (const [at, [id, name, milestone, criterion]] of phases.entries()) {
    await agent.call('taskman_phase_add', { id, name, 'sort-order': at + 1 })
    await agent.call('taskman_milestone_add', { id: `M${at + 1}`, phase: id, name: milestone, criterion })
    await cast.think(2)
  }
  for (const [at, [name, phase, title, role]] of tasks.entries()) {
    const milestone = `M${phase.slice(1)}`
    const added = await agent.call('taskman_task_add', {
      title,
      phase,
      milestone,
      role,
      'sort-order': at + 1,
    })
    cast.tasks.set(name, added.id)
    await cast.think(0.6)
  }
  for (const [name, , , , dependencies] of tasks) {
    for (const dependency of dependencies) {
      await agent.call('taskman_task_dep_add', {
        'task-id': cast.tasks.get(name),
        'dep-id': cast.tasks.get(dependency),
      })
    }
    await cast.think(0.4)
  }
}
