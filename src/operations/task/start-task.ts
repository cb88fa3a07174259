import { z } from 'zod'
import { startTask as decide } from '../../domain/track/start-task.ts'
import { callerTypes } from '../../domain/track/task.ts'
import { admitTask } from '../../domain/track/task-admission.ts'
import { choice, count, identifier, name, text, texts, unlisted } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { describeAreas, rivalsInTree } from './areas-at-start.ts'
import { loadSituation } from './situation.ts'
import { plannedStory, startAnswer } from './start-answer.ts'
import { assertNamed, inNamedPhase, inOwnTree, workTreeOf } from './start-checks.ts'

export const startTask = defineOperation({
  name: 'start_task',
  tool: 'start_task',
  command: 'task start',
  synonyms: { mission: 'mission_id', task_id: 'planned_task_id', id: 'planned_task_id', title: 'name' },
  toolset: 'track',
  audience: 'both',
  title: 'Start a task',
  description: 'Start a new task and create a Git snapshot',
  kind: 'command',
  positional: ['name'],
  input: z
    .strictObject({
      workflow_id: identifier('Workflow ID (legacy)').optional(),
      parent_task_id: identifier('Parent task ID').optional(),
      mission_id: identifier('Mission ID').optional(),
      phase: count('Phase number, created if new; default the current one', 1000).optional(),
      phase_id: unlisted(identifier('Phase ID, instead of its number')).optional(),
      phase_name: name('Name of a new phase').optional(),
      caller_type: choice(callerTypes, 'Who calls', { sub_agent: 'subagent' }).optional(),
      agent_name: name('Your name').optional(),
      name: name('Short name').optional(),
      goal: text('Precise goal').optional(),
      areas: texts(
        "Code you will touch: words, folders or globs (e.g., ['auth', 'src/api/', '!**/*.sql'])",
      ).optional(),
      planned_task_id: identifier('Planned task to work on, instead of a new one').optional(),
      claim_token: identifier('Token of your claim').optional(),
      force: z.boolean().describe('Begin although a dependency is open').optional(),
      take_over: z.boolean().describe('Abandon a stale attempt at the planned task').optional(),
      work_tree: text("Folder of the git work tree, if not the server's own").optional(),
    })
    // The name is optional only beside planned_task_id, which the plain schemas of clients cannot say.
    .meta({ required: ['name'] }),
  output: z.looseObject({
    task_id: z.string(),
    attempt_id: z.string(),
    snapshot_id: z.string(),
    snapshot_type: z.string(),
    started_at: z.string(),
    phase_id: z.string().nullable(),
    phase_created: z.boolean(),
    caller_type: z.string().nullable(),
    agent_name: z.string().nullable(),
    areas: z.array(z.looseObject({ area: z.string(), files: z.int() })),
    warnings: z.array(z.string()),
  }),
}).handler(async (context, given) => {
  const { store, witness, clock, record, ids, actor } = context
  const { input: placed, said } = await inOwnTree(context, given)
  assertNamed(placed)
  const input = await inNamedPhase(store, placed)
  const plannedAreas = await store.view(async (reads) => {
    const situation = await loadSituation(reads, input)
    admitTask(situation)
    return situation.planned?.task.areas ?? []
  })
  const tree = await workTreeOf(context, input.work_tree)
  const snapshotAt = clock.now()
  const snapshot = await witness.snapshot({ folder: tree, name: ids.next('attempt') })
  const { survey, packages } = await describeAreas(witness, snapshot, input.areas ?? plannedAreas)

  return record(async (reads, setting) => {
    const started = decide(
      {
        name: input.name ?? null,
        goal: input.goal ?? null,
        areas: input.areas ?? [],
        phase: input.phase ?? null,
        phaseName: input.phase_name ?? null,
        callerType: input.caller_type ?? null,
        agentName: input.agent_name ?? null,
        takeOver: input.take_over ?? false,
        claimToken: input.claim_token ?? null,
        force: input.force ?? false,
        actor,
        snapshot: snapshot.ref,
        snapshotAt,
      },
      await loadSituation(reads, input),
      setting,
    )
    const rivals = await rivalsInTree(reads, started, { paths: snapshot.paths, packages })
    const answer = startAnswer(started, { snapshot, survey, rivals: [...said, ...rivals] })
    const story = input.planned_task_id === undefined ? {} : await plannedStory(reads, started)
    return { happenings: started.happenings, answer: { ...answer, ...story } }
  })
})
