import { describe, expect, test } from 'vitest'
import type { AttemptId, MissionId, TaskId } from '../../../src/kernel/id.ts'
import {
  type CountedAttempt,
  type Figures,
  groupings,
  type StatRecords,
  spreadOf,
  statsOf,
} from '../../../src/reports/domain/stats.ts'
import { mondayOf, weekAfter, weeksIn } from '../../../src/reports/domain/weeks.ts'
import type { LandedState } from '../../../src/track/domain/landed.ts'
import type { VerdictRule, VerdictValue } from '../../../src/track/domain/verdict.ts'

const hour = 3_600_000
const week = 7 * 24 * hour
const monday = Date.UTC(2026, 10, 16)

const none: StatRecords = {
  attempts: [],
  answers: [],
  events: [],
  missions: [],
  turns: [],
  setBack: new Set(),
}
const everything = {
  since: null,
  missionId: null,
  groupBy: null,
  weekOf: weeksIn('UTC'),
  now: monday + 10 * week,
}

function attempt(task: string, changes: Partial<CountedAttempt> = {}): CountedAttempt {
  const number = changes.number ?? 1
  return {
    id: `a-${task}-${number}` as AttemptId,
    taskId: `t-${task}` as TaskId,
    missionId: 'm-1' as MissionId,
    agent: 'builder',
    model: 'opus',
    number,
    status: 'success',
    openedAt: monday,
    closedAt: monday + hour,
    measured: { scopeMatches: true, outOfScope: 0, addedLines: 10, deletedLines: 4, withoutLines: 0 },
    verdict: null,
    landing: null,
    tokensInput: null,
    tokensOutput: null,
    role: 'developer',
    resolution: 'success',
    ...changes,
  }
}

const all = (records: Partial<StatRecords>): Figures => statsOf({ ...none, ...records }, everything).all

describe('weeks', () => {
  test.each([
    ['UTC', Date.UTC(2026, 0, 1), '2026-W01'],
    ['UTC', Date.UTC(2027, 0, 1), '2026-W53'],
    ['UTC', Date.UTC(2024, 11, 30), '2025-W01'],
    ['UTC', monday - 1, '2026-W46'],
    ['UTC', monday, '2026-W47'],
    ['Europe/Berlin', monday - hour, '2026-W47'],
    ['Europe/Berlin', monday - hour - 1, '2026-W46'],
    ['America/Los_Angeles', monday + 7 * hour, '2026-W46'],
    ['Asia/Kathmandu', monday - 5.75 * hour, '2026-W47'],
    ['Asia/Kathmandu', monday - 5.75 * hour - 1, '2026-W46'],
  ])('in %s, %d lies in %s', (zone, at, expected) => {
    expect(weeksIn(zone)(at)).toBe(expected)
  })

  test('a week knows its Monday and the week after, over the end of a long year', () => {
    expect(mondayOf('2026-W47')).toBe('2026-11-16')
    expect(mondayOf('2026-W53')).toBe('2026-12-28')
    expect(weekAfter('2026-W53')).toBe('2027-W01')
  })

  test('a zone that there is not is named', () => {
    expect(() => weeksIn('Mars/Olympus')).toThrow('There is no time zone "Mars/Olympus".')
  })
})

describe('a spread', () => {
  test('of nothing is unknown, never 0', () => {
    expect(spreadOf([])).toEqual({ n: 0, median: null, p90: null })
  })

  test.each([
    [[5], 5, 5],
    [[4, 1], 2.5, 4],
    [[3, 1, 2], 2, 3],
    [[10, 1, 2, 3, 4, 5, 6, 7, 8, 9], 5.5, 9],
  ])('of %j has the median %d and the 90th percentile %d', (times, median, p90) => {
    expect(spreadOf(times)).toEqual({ n: times.length, median, p90 })
  })
})

describe('figures', () => {
  test('of nothing have n 0 and no value', () => {
    expect(all({})).toEqual({
      taskTime: { n: 0, median: null, p90: null },
      attemptTime: { n: 0, median: null, p90: null },
      missionTime: { n: 0, median: null, p90: null },
      firstPass: { n: 0, passed: null },
      verdicts: { n: 0, counts: null, byRule: [] },
      landed: {
        n: 0,
        landed: null,
        reverted: null,
        lost: null,
        after: [1, 7, 30].map((days) => ({ days, n: 0, landed: null })),
      },
      waiting: { n: 0, median: null, p90: null, total: null },
      waitingByKind: [],
      outOfScope: { n: 0, files: null, attempts: null },
      retries: { n: 0, attempts: null, again: null },
      refusedEvents: { n: 0, refused: null },
      lines: { n: 0, added: null, deleted: null, withoutLines: null },
      tokens: { ended: 0, input: { n: 0, sum: null }, output: { n: 0, sum: null } },
      turnTokens: { ended: 0, input: { n: 0, sum: null }, output: { n: 0, sum: null } },
    })
  })

  test('a task takes from the start of its first attempt to the end of the one that completed it', () => {
    const { taskTime, attemptTime, retries } = all({
      attempts: [
        attempt('1', { status: 'failed', closedAt: monday + hour }),
        attempt('1', { number: 2, openedAt: monday + 2 * hour, closedAt: monday + 5 * hour }),
      ],
    })
    expect(taskTime).toEqual({ n: 1, median: 5 * hour, p90: 5 * hour })
    expect(attemptTime).toEqual({ n: 2, median: 2 * hour, p90: 3 * hour })
    expect(retries).toEqual({ n: 1, attempts: 2, again: 1 })
  })

  test('an attempt that was given up has no time, and counts as a try', () => {
    const { attemptTime, retries, tokens } = all({
      attempts: [
        attempt('1', { status: 'abandoned', resolution: null, measured: null, closedAt: monday + 90 * hour }),
      ],
    })
    expect(attemptTime.n).toBe(0)
    expect(tokens.ended).toBe(0)
    expect(retries).toEqual({ n: 1, attempts: 1, again: 0 })
  })

  test('the first pass is for what is done after one attempt, and was neither rejected nor reopened', () => {
    const reopened = { resolution: null } as const
    const { firstPass } = all({
      attempts: [
        attempt('at once'),
        attempt('partly', { status: 'partial_success', resolution: 'partial_success' }),
        attempt('second', { status: 'failed' }),
        attempt('second', { number: 2 }),
        attempt('reopened', reopened),
        attempt('begun again'),
        attempt('begun again', { number: 2, status: 'open', closedAt: null }),
        attempt('rejected'),
        attempt('by hand', { resolution: 'unmeasured' }),
        attempt('dropped', { resolution: 'dropped' }),
        attempt('only failed', { status: 'failed', resolution: null }),
      ],
      setBack: new Set(['t-rejected' as TaskId]),
    })
    expect(firstPass).toEqual({ n: 7, passed: 2 })
  })

  test('what was not measured is in no sum and no n', () => {
    const measured = { scopeMatches: false, outOfScope: 2, addedLines: 1, deletedLines: 0, withoutLines: 1 }
    const { outOfScope, lines } = all({
      attempts: [
        attempt('1', { measured }),
        attempt('2', { measured: null }),
        attempt('3', { measured: { ...measured, scopeMatches: null, outOfScope: 0 } }),
        attempt('4'),
      ],
    })
    expect(outOfScope).toEqual({ n: 2, files: 2, attempts: 1 })
    expect(lines).toEqual({ n: 3, added: 12, deleted: 4, withoutLines: 2 })
  })

  test('counts first verdicts, explained contradictions apart, and the rules of both', () => {
    const judged = (task: string, first: VerdictValue, rules: readonly VerdictRule[], last = first) =>
      attempt(task, { verdict: { first, rules, last } })
    const attempts = [
      judged('1', 'proven', []),
      judged('2', 'unproven', ['no_check']),
      judged('3', 'contradicted', ['nothing_changed', 'no_check']),
      judged('4', 'contradicted', ['claimed_not_changed'], 'unproven'),
      attempt('5', { verdict: null, status: 'failed' }),
    ]
    expect(all({ attempts }).verdicts).toEqual({
      n: 4,
      counts: { proven: 1, unproven: 1, contradicted: 1, explained: 1 },
      byRule: [
        { rule: 'no_check', n: 2 },
        { rule: 'claimed_not_changed', n: 1 },
        { rule: 'nothing_changed', n: 1 },
      ],
    })
    expect(all({ attempts: [] }).verdicts).toEqual({ n: 0, counts: null, byRule: [] })
  })

  test('counts landed tasks, and after some days only of those that are so old', () => {
    const day = 24 * hour
    const now = everything.now
    const followed = (task: string, age: number, is: LandedState, after: number | null) =>
      attempt(task, {
        closedAt: now - age * day,
        landing: { is, landedAt: after === null ? null : now - (age - after) * day },
      })
    const attempts = [
      followed('1', 40, 'landed', 0.5),
      followed('2', 40, 'landed', 20),
      followed('3', 10, 'reverted', 2),
      followed('4', 10, 'committed', null),
      followed('5', 0.5, 'landed', 0.1),
      followed('6', 40, 'none', null),
      attempt('7'),
    ]
    expect(all({ attempts }).landed).toEqual({
      n: 5,
      landed: 3,
      reverted: 1,
      lost: 0,
      after: [
        { days: 1, n: 4, landed: 1 },
        { days: 7, n: 4, landed: 2 },
        { days: 30, n: 2, landed: 2 },
      ],
    })
  })

  test('tokens of turns are those that clients report, of the client and the week, and of no mission', () => {
    const turn = { client: 'claude', model: null, closedAt: monday, tokensInput: 70, tokensOutput: null }
    const records = { ...none, turns: [turn, { ...turn, client: 'codex', tokensInput: null }] }
    const told = { ended: 2, input: { n: 1, sum: 70 }, output: { n: 0, sum: null } }
    expect(statsOf(records, everything).all.turnTokens).toEqual(told)
    const groups = (by: 'agent' | 'week' | 'mission') =>
      statsOf(records, { ...everything, groupBy: by }).groups.map(({ key, turnTokens }) => [
        key,
        turnTokens.ended,
      ])
    expect(groups('agent')).toEqual([
      ['claude', 1],
      ['codex', 1],
    ])
    expect(groups('week')).toEqual([['2026-W47', 2]])
    expect(groups('mission')).toEqual([])
    const ofMission = statsOf(records, { ...everything, missionId: 'm-1' as MissionId })
    expect(ofMission.all.turnTokens.ended).toBe(0)
  })

  test('tokens are the sum of what was said, of those who said it; a said 0 is a number', () => {
    const { tokens } = all({
      attempts: [
        attempt('1', { tokensInput: 100, tokensOutput: 0 }),
        attempt('2', { tokensInput: 50 }),
        attempt('3'),
      ],
    })
    expect(tokens).toEqual({ ended: 3, input: { n: 2, sum: 150 }, output: { n: 1, sum: 0 } })
  })

  test('clocks of two machines make no time negative', () => {
    expect(all({ attempts: [attempt('1', { openedAt: monday + 2 * hour })] }).attemptTime.median).toBe(0)
  })

  test('only what ended since then counts, with all attempts of its task', () => {
    const attempts = [
      attempt('1', { status: 'failed' }),
      attempt('1', { number: 2, openedAt: monday + week, closedAt: monday + week + hour }),
    ]
    const question = { ...everything, since: monday + week }
    const { taskTime, attemptTime, retries } = statsOf({ ...none, attempts }, question).all
    expect(attemptTime.n).toBe(1)
    expect(taskTime).toMatchObject({ n: 1, median: week + hour })
    expect(retries.attempts).toBe(2)
  })
})

describe('groups', () => {
  const records: StatRecords = {
    attempts: [
      attempt('1'),
      attempt('2', { agent: 'Ada', role: null, closedAt: monday + 3 * week }),
      attempt('3', { agent: null, missionId: null, closedAt: monday + 3 * week + hour }),
    ],
    answers: [
      {
        kind: 'review',
        missionId: 'm-1' as MissionId,
        agent: 'Ada',
        role: null,
        openedAt: monday,
        closedAt: monday + hour,
      },
    ],
    events: [
      { missionId: 'm-1' as MissionId, author: 'Ada', role: 'builder', at: monday, isRefused: true },
      { missionId: 'm-1' as MissionId, author: 'Tess', role: null, at: monday, isRefused: false },
    ],
    missions: [{ id: 'm-1' as MissionId, startedAt: monday, completedAt: monday + week }],
    turns: [],
    setBack: new Set(),
  }
  const by = (grouping: (typeof groupings)[number]) =>
    statsOf(records, { ...everything, groupBy: grouping }).groups

  test('stand in the order of their names, whatever their figures: no one is ranked', () => {
    expect(by('agent').map(({ key }) => key)).toEqual(['Ada', 'builder', null])
    expect(by('role').map(({ key }) => key)).toEqual(['builder', 'developer', null])
    expect(by('mission').map(({ key }) => key)).toEqual(['m-1', null])
  })

  test('persons are not told apart, and waits belong to whose work waited', () => {
    const [ada, builder, people] = by('agent')
    expect(ada).toMatchObject({ waiting: { n: 1 }, refusedEvents: { n: 1, refused: 1 } })
    expect(builder).toMatchObject({ waiting: { n: 0, median: null } })
    expect(people).toMatchObject({ attemptTime: { n: 1 }, refusedEvents: { n: 1, refused: 0 } })
  })

  test('weeks are in order, and those in which nothing ended are there, unknown', () => {
    const weeks = by('week')
    expect(weeks.map(({ key }) => key)).toEqual(['2026-W47', '2026-W48', '2026-W49', '2026-W50'])
    expect(weeks[2]).toMatchObject({ attemptTime: { n: 0, median: null }, lines: { n: 0, added: null } })
    expect(weeks[1]?.missionTime.n).toBe(1)
  })

  test.each(groupings)('by %s, every attempt is in one group', (grouping) => {
    const sum = by(grouping).reduce((total, { attemptTime }) => total + attemptTime.n, 0)
    expect(sum).toBe(statsOf(records, everything).all.attemptTime.n)
  })

  test('equal records give equal figures, in whatever order they were read', () => {
    const turned = {
      ...records,
      attempts: records.attempts.toReversed(),
      events: records.events.toReversed(),
    }
    for (const grouping of groupings) {
      expect(statsOf(turned, { ...everything, groupBy: grouping })).toEqual(
        statsOf(records, { ...everything, groupBy: grouping }),
      )
    }
  })
})
