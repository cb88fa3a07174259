import fc from 'fast-check'
import {
  type DocumentMilestone,
  type DocumentNote,
  type DocumentPhase,
  type DocumentTask,
  documentResolutions,
  documentStatuses,
  type PlanDocument,
} from '../../src/plan/domain/document.ts'
import { anyText } from './any-text.ts'

const text = anyText()
const textOrNull = fc.option(text)
const named = fc.stringMatching(/\S/)
const order = fc.option(fc.integer())
const instant = fc.option(
  fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map(Number),
)
/** As `readDoneWhen` gives it. */
const promised = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 3 })
const doneWhen = fc.record(
  {
    criteria: promised,
    check: promised.map((runs) => runs.map((run) => ({ run, pinned: [run], timeout: 90_000 }))),
    changes: promised,
    inherit: fc.constant(false),
  },
  { requiredKeys: ['changes'] },
)
const keys = fc.uniqueArray(named, { maxLength: 6 })

const note: fc.Arbitrary<DocumentNote> = fc.record({
  content: text,
  kind: textOrNull,
  role: textOrNull,
  author: textOrNull,
  createdAt: instant,
})

/** Any document without problems. */
export const anyPlanDocument: fc.Arbitrary<PlanDocument> = fc
  .tuple(keys, keys, keys)
  .chain(([phaseKeys, milestoneKeys, taskKeys]) =>
    fc.tuple(phasesOf(phaseKeys), milestonesOf(milestoneKeys, phaseKeys)).chain(([phases, milestones]) =>
      fc.record({
        phases: fc.constant(phases),
        milestones: fc.constant(milestones),
        tasks: tasksOf(taskKeys, milestones),
      }),
    ),
  )

/** No two of a kind have the same one. */
function foreignIdOf(key: string): fc.Arbitrary<string | null> {
  return textOrNull.map((text) => (text === null ? null : JSON.stringify([key, text])))
}

function phasesOf(phaseKeys: readonly string[]): fc.Arbitrary<readonly DocumentPhase[]> {
  return fc.tuple(
    ...phaseKeys.map((key) =>
      fc.record({
        key: fc.constant(key),
        name: named,
        status: fc.constantFrom(...documentStatuses),
        sortOrder: order,
        foreignId: foreignIdOf(key),
      }),
    ),
  )
}

function milestonesOf(
  milestoneKeys: readonly string[],
  phaseKeys: readonly string[],
): fc.Arbitrary<readonly DocumentMilestone[]> {
  if (phaseKeys.length === 0) return fc.constant([])
  return fc.tuple(
    ...milestoneKeys.map((key) =>
      fc.record({
        key: fc.constant(key),
        phase: fc.constantFrom(...phaseKeys),
        name: textOrNull,
        criterion: textOrNull,
        reached: fc.boolean(),
        foreignId: foreignIdOf(key),
      }),
    ),
  )
}

function tasksOf(
  taskKeys: readonly string[],
  milestones: readonly DocumentMilestone[],
): fc.Arbitrary<readonly DocumentTask[]> {
  return fc.tuple(
    ...taskKeys.map((key, place) =>
      fc
        .constantFrom(null, ...milestones)
        .chain((milestone) => taskOf(key, taskKeys.slice(0, place), milestone)),
    ),
  )
}

function taskOf(
  key: string,
  before: readonly string[],
  milestone: DocumentMilestone | null,
): fc.Arbitrary<DocumentTask> {
  return fc
    .record({
      key: fc.constant(key),
      title: named,
      description: textOrNull,
      phase: fc.constant(milestone?.phase ?? null),
      milestone: fc.constant(milestone?.key ?? null),
      parent: fc.constantFrom(null, ...before),
      role: textOrNull,
      assignee: textOrNull,
      areas: fc.array(named, { maxLength: 2 }),
      status: fc.constantFrom(...documentStatuses),
      resolution: fc.constantFrom(null, ...documentResolutions),
      sortOrder: order,
      dependsOn: fc.subarray([...before]),
      notes: fc.array(note, { maxLength: 3 }),
      creator: textOrNull,
      createdAt: instant,
      updatedAt: instant,
      foreignId: foreignIdOf(key),
    })
    .chain((task) =>
      fc.option(doneWhen).map((promises) => (promises === null ? task : { ...task, doneWhen: promises })),
    )
    .map((task) => (task.status === 'done' ? task : { ...task, resolution: null }))
}
