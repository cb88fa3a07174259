import { z } from 'zod'
import { answerBudget, excerpt, fitSections } from '../../domain/budget.ts'
import { currentPhase, shownStatus, totalPhases } from '../../domain/track/mission.ts'
import { findMission } from '../find/entities.ts'
import { nextCursor, readCursor } from '../input/cursor.ts'
import { choice, count, identifier, name, unlisted } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import {
  answeredBlockers,
  type ContextSection,
  contextSections,
  type LoadedSection,
  loadSection,
} from './context-sections.ts'
import { missionRuns } from './mission-runs.ts'
import { phaseSummary, phasesAround } from './phase-summary.ts'
import { isSince, timeSince, waitForMission } from './wait-for-mission.ts'

/** Clients of MCP give up after 60 seconds. */
const longestWait = 50

const sinceField = z
  .string()
  .max(40)
  .refine(isSince, 'it is no ISO 8601 time such as 2026-01-15T10:00:00Z, and no as_of of an answer before')
  .describe('as_of of an answer, or ISO time')

export const getContext = defineOperation({
  name: 'get_context',
  tool: 'get_context',
  command: 'context',
  synonyms: { workflow_id: 'mission_id', mission: 'mission_id', id: 'mission_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Get the context of a mission',
  description: 'Retrieve mission context (decisions, milestones, blockers, phases, tasks)',
  kind: 'query',
  positional: ['mission_id'],
  input: z.strictObject({
    mission_id: identifier('Mission ID'),
    include: z
      .array(
        choice(contextSections, undefined, {
          phases: 'phase_summary',
          progress: 'milestones',
        }),
      )
      .min(1)
      .describe('Sections to return'),
    filter: z
      .strictObject({
        phase: count('Phase number', 100_000).optional(),
        agent: name('Agent name').optional(),
        since: sinceField.optional(),
      })
      .optional(),
    limit: count('Entries of each list; default: as many as fit', 200).optional(),
    cursor: identifier('next_cursor').optional(),
    wait_seconds: count('Wait up to this long for a change after filter.since', longestWait).optional(),
    since: unlisted(sinceField).optional(),
  }),
  output: z.looseObject({
    mission_id: z.string(),
    mission_name: z.string(),
    mission_status: z.string(),
    current_phase: z.int(),
    total_phases: z.int(),
    as_of: z.string(),
    next_cursor: z.string().nullable(),
  }),
}).handler(async ({ store, clock }, input) => {
  const since = input.filter?.since ?? input.since
  if (input.wait_seconds !== undefined) {
    const { id } = await store.view((reads) => findMission(reads, input.mission_id))
    await waitForMission(store, id, { since, milliseconds: input.wait_seconds * 1000 })
  }
  return store.view(async (reads) => {
    const mission = await findMission(reads, input.mission_id)
    const phases = await reads.missions.phases(mission.id)
    const now = await reads.missions.now(mission.id)
    const phase = input.filter?.phase
    const filter = {
      missionId: mission.id,
      ...(input.filter?.agent !== undefined && { agent: input.filter.agent }),
      ...(since !== undefined && { since: await timeSince(reads, since) }),
      ...(phase !== undefined && { phaseId: phases.find(({ number }) => number === phase)?.id ?? noPhase }),
    }
    const wanted = [...new Set(input.include)]
    const lists = wanted.filter((section) => section !== 'phase_summary')
    const before = readCursor(input.cursor, lists)
    const limit = input.limit ?? 20
    const sections = await Promise.all(
      lists
        .filter((section) => before === null || before.has(section))
        .map((section) =>
          loadSection(reads, section, filter, { limit, now: clock.now(), ...at(before, section) }),
        ),
    )
    const current = currentPhase(mission, phases)
    const summary =
      wanted.includes('phase_summary') && before === null
        ? await phaseSummary(reads, mission, phasesAround(current, phases))
        : null
    const gates = before === null ? await missionRuns(reads, mission) : null
    const answered =
      wanted.includes('blockers') && before === null ? await answeredBlockers(reads, filter) : []
    const objective = mission.objective === null ? null : excerpt(mission.objective, 600)
    const used = JSON.stringify([objective, summary, answered, gates]).length
    const shown = input.limit === undefined ? fitted(sections, answerBudget - used) : sections
    return {
      mission_id: mission.id,
      mission_name: mission.name,
      mission_status: shownStatus(mission, now),
      objective,
      current_phase: current,
      total_phases: totalPhases(mission, phases),
      ...(gates !== null && gates.runs.length > 0 && { runs: gates.runs }),
      ...(gates !== null &&
        gates.completed_despite.length > 0 && { completed_despite: gates.completed_despite }),
      ...(summary && { phase_summary: summary }),
      ...(summary && { phase_summary_total: phases.length }),
      ...Object.fromEntries(shown.flatMap(namedList)),
      ...(answered.length > 0 && { answered_blockers: answered }),
      as_of: `#${await reads.journal.head()}`,
      next_cursor: nextCursor(shown),
    }
  })
})

/** A phase number that the mission does not have: its lists are empty. */
const noPhase = 'ph-none' as NonNullable<Parameters<typeof loadSection>[2]['phaseId']> // no phase has this id

function namedList({ name: list, entries, total }: LoadedSection): readonly (readonly [string, unknown])[] {
  return [
    [list, entries],
    [`${list}_total`, total],
  ]
}

function at(
  before: ReadonlyMap<string, number> | null,
  section: ContextSection,
): { readonly before?: number } {
  const seq = before?.get(section)
  return seq === undefined ? {} : { before: seq }
}

/** Without a limit, as many entries of each list as keep the answer small. */
function fitted(sections: readonly LoadedSection[], budget: number): readonly LoadedSection[] {
  const counts = fitSections(sections, Math.max(budget, 600))
  return sections.map((section) => {
    const kept = counts.get(section.name) ?? section.entries.length
    const more = section.more || kept < section.entries.length
    return { ...section, entries: section.entries.slice(0, kept), seqs: section.seqs.slice(0, kept), more }
  })
}
