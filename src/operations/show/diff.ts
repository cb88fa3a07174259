import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { MissionId } from '../../domain/id.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Handling } from '../context.ts'
import { identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { attemptOf } from './subject.ts'

const longestDiff = 2_000_000

export const diff = defineOperation({
  name: 'diff',
  command: 'diff',
  toolset: 'track',
  audience: 'both',
  title: 'The unified diff of a task or mission',
  description:
    'What a task changed, line by line, between its snapshots; for an open task up to now. Of a mission: from the state at its first attempt to the state at its last end, the files of its attempts.',
  kind: 'query',
  positional: ['id', 'path'],
  input: z.strictObject({
    id: identifier('A task, one attempt at it, or a mission (t-…, a-…, m-…, w-…)'),
    path: text('Only this file, from the top of the work tree').optional(),
  }),
  output: z.looseObject({
    task_id: z.string().optional(),
    attempt_id: z.string().optional(),
    mission_id: z.string().optional(),
    diff: z.string(),
    truncated: z.boolean(),
  }),
}).handler(async (handling, input) => {
  const mission = await handling.store.view((reads) => reads.missions.find(input.id))
  if (mission !== null) return diffOfMission(handling, mission.id, input.path)
  const attempt = await handling.store.view((reads) => attemptOf(reads, input.id))
  const end = attempt.status === 'open' ? await stateNow(handling, attempt) : attempt.endSnapshot
  if (end === null) {
    throw new Failure(
      'UNAVAILABLE',
      `The end of attempt ${attempt.id} was not measured (${attempt.status}).`,
      {
        hint: `waymark show ${attempt.taskId} tells what is known.`,
      },
    )
  }
  const unified = await handling.witness.unifiedDiff(
    attempt.snapshot,
    end,
    input.path === undefined ? undefined : [input.path],
  )
  if (unified === null) {
    throw new Failure('UNAVAILABLE', `The contents that attempt ${attempt.id} changed are no longer kept.`, {
      hint: `waymark changes ${attempt.taskId} still lists the files; contents are kept for 30 days.`,
    })
  }
  return {
    task_id: attempt.taskId,
    attempt_id: attempt.id,
    diff: unified.slice(0, longestDiff),
    truncated: unified.length > longestDiff,
  }
})

/** The work trees one after the other, each with the files that attempts of the mission changed there. */
async function diffOfMission({ store, witness }: Handling, missionId: MissionId, path: string | undefined) {
  const trees = await store.view(async ({ missions }) => {
    const tops = await missions.treesOf(missionId)
    return Promise.all(tops.map((top) => missions.tree(missionId, top)))
  })
  const parts = await Promise.all(
    trees.map(async ({ first, lastEnded, recorded }) => {
      if (first === null || lastEnded?.endSnapshot == null) return ''
      const changed = recorded.filter(({ change, origin }) => change !== 'none' && origin !== 'imported')
      const paths = changed.flatMap((one) => (one.from === undefined ? [one.path] : [one.path, one.from]))
      const wanted = path === undefined ? paths : paths.filter((known) => known === path)
      return wanted.length === 0 ? '' : witness.unifiedDiff(first.snapshot, lastEnded.endSnapshot, wanted)
    }),
  )
  if (parts.includes(null)) {
    throw new Failure('UNAVAILABLE', `The contents that mission ${missionId} changed are no longer kept.`, {
      hint: `waymark mission changes ${missionId} still lists the files; contents are kept for 30 days after the last task.`,
    })
  }
  const unified = parts.join('')
  return {
    mission_id: missionId,
    diff: unified.slice(0, longestDiff),
    truncated: unified.length > longestDiff,
  }
}

async function stateNow({ witness, ids }: Handling, attempt: Attempt): Promise<SnapshotPlace> {
  const { top, prefix, engine } = attempt.snapshot
  const now = await witness.snapshot({ folder: `${top}/${prefix}`, name: ids.next('attempt'), engine, top })
  return now.ref
}
