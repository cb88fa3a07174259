import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { RunEvent } from '../../src/gate/domain/run.ts'
import type { InboxItemId, RunEventId } from '../../src/kernel/id.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import { memoryLog } from '../../src/store/ports/record-rows.ts'
import type { Reads } from '../../src/store/ports/store.ts'
import { amount } from '../support/amount.ts'
import { anyText } from '../support/any-text.ts'
import { anItem } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { happened } from './events.ts'
import {
  aCommand,
  advanced,
  anArtifact,
  anEvent,
  approved,
  created,
  definition,
  kept,
  r,
  refused,
  version,
} from './run-events.ts'

// Any text that JSON can carry, halves of surrogate pairs included.
const text = fc.oneof(anyText(), fc.constantFrom('\ud800', 'a\udc00b', '\u0000'))
const context: fc.Arbitrary<JsonObject> = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
const state = fc.constantFrom('plan', 'build', 'review')
const artifact = fc.record({
  type: fc.constantFrom('plan', 'observation'),
  path: fc.constantFrom('a.json', 'b.json', 'é.json'),
  stamp: text,
  content: fc.jsonValue({ maxDepth: 2 }),
})

/** What may happen to a run: the revision that it gets if it moves, and which step of its history it is. */
type Step = (revision: number, position: number) => readonly NewProjectEvent[]

const moved = fc
  .record({
    event: text,
    payload: context,
    to: state,
    stateChanged: fc.boolean(),
    unsatisfied: fc.array(text, { maxLength: 2 }),
    role: fc.option(text),
    by: text,
    artifacts: fc.uniqueArray(artifact, { maxLength: 3, selector: ({ type, path }) => `${type} ${path}` }),
  })
  .map(
    (changes) =>
      (revision: number): RunEvent =>
        anEvent(revision, {
          ...changes,
          artifacts: changes.artifacts.map(({ path, ...more }) => anArtifact(path, { ...more, revision })),
        }),
  )

const subject = { runId: r(1), missionId: null, taskId: null }
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(moved, fc.option(context)).map(
      ([event, after]): Step =>
        (revision) => [advanced(event(revision), { context: after })],
    ),
  },
  {
    weight: 1,
    arbitrary: moved.map(
      (event): Step =>
        (revision) => [
          { kind: 'process.kept', hash: `small-${revision}`, definition },
          {
            kind: 'run.migrated',
            ...subject,
            event: { ...event(revision), kind: 'migration', artifacts: [] },
            process: { ...version, hash: `small-${revision}` },
            status: 'active',
          },
        ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ message: text, missing: fc.array(text) }).map(
      (said): Step =>
        () => [refused(said)],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ content: text, reason: fc.option(text) }).map(
      (given): Step =>
        () => [approved(given)],
    ),
  },
  {
    weight: 1,
    arbitrary: text.map(
      (output): Step =>
        (_, position) => {
          const command = aCommand(position)
          const end = { status: 'passed', exitCode: 0, output, treeHeld: true } as const
          return [
            { kind: 'command.started', command },
            { kind: 'command.ended', commandId: command.id, runId: r(1), ...end },
          ]
        },
    ),
  },
)

const ofCommand = { kind: 'command', run: 'npm test', folder: '/tree', pinned: [], hash: 'c1' } as const
const item = anItem({
  id: 'h-1' as InboxItemId,
  missionId: null,
  taskId: null,
  attemptId: null,
  runId: r(1),
  request: ofCommand,
})

/** Everything of the run that can be asked. */
async function allOf({ runs, inboxItems, eventLog: log }: Reads): Promise<unknown> {
  const page = { limit: 1000 }
  const { items: history } = await runs.history(r(1), page)
  return {
    loaded: await runs.load('run-1'),
    list: await runs.list({}, page),
    history,
    refusals: await runs.refusals(r(1), page),
    approvals: await runs.approvals(r(1)),
    command: await runs.commandResult({ run: 'npm test', folder: '/tree' }),
    begun: await runs.command('cmd-1'),
    settings: await runs.settings(),
    items: [await inboxItems.ofRun(r(1)), await inboxItems.openCommands('c1')],
    events: await log.since(0, 1000),
    check: await log.verify(),
  }
}

/** The steps on a fresh run; an event and a move make its next revision, and a last one may end it. */
function eventsOf(steps: readonly Step[], isCancelled: boolean): readonly (readonly NewProjectEvent[])[] {
  let revision = 1
  const made = steps.map((step, position) => {
    const projectEvents = step(revision + 1, position)
    if (projectEvents.some(({ kind }) => kind === 'run.advanced' || kind === 'run.migrated')) revision += 1
    return projectEvents
  })
  const last = anEvent(revision + 1, { kind: 'cancellation', id: 'evt-last' as RunEventId })
  return isCancelled ? [...made, [{ kind: 'run.cancelled', ...subject, event: last }]] : made
}

describe.each(dialects)('runs restored from a log in $dialect', ({ fresh, alone, isQuick }) => {
  test('are what they were, whatever happened to them, and the chain of hashes holds', async () => {
    const history = fc.tuple(fc.array(anyStep, { maxLength: 12 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(history, async ([steps, isCancelled]) => {
        await using original = await fresh()
        const { store } = original
        await happened(
          store,
          1,
          kept,
          created(),
          { kind: 'inbox.opened', item },
          { kind: 'setting.changed', name: 'elicitation', value: 'off' },
        )
        for (const [index, projectEvents] of eventsOf(steps, isCancelled).entries())
          await happened(store, index + 2, ...projectEvents)
        const before = await store.view(allOf)
        expect(before).toMatchObject({ check: { brokenAt: null } })
        await using copy = await alone()
        const events = await store.view(({ eventLog: log }) => log.since(0, 1000))
        await copy.store.restore(memoryLog(events))
        expect(await copy.store.view(allOf)).toEqual(before)
      }),
      { numRuns: isQuick ? amount({ test: 4, soak: 25 }) : 1 },
    )
  })
})
