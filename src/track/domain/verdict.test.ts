import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../events/domain/project-event.ts'
import type { TaskId } from '../../kernel/id.ts'
import {
  type CheckFact,
  contradictionRules,
  judgeClaim,
  type VerdictFacts,
  type VerdictRule,
  verdictRules,
} from './verdict.ts'

const outcome: Outcome = {
  summary: 'Added the limiter.',
  achievements: [],
  limitations: [],
  nextSteps: [],
  manualReviewNeeded: false,
  manualReviewReason: null,
  packagesAdded: [],
  packagesRemoved: [],
  commandsExecuted: [],
  testsStatus: null,
  tokensInput: null,
  tokensOutput: null,
}

const passed: CheckFact = { command: 'npm test', state: 'ended', exitCode: 0, ranAt: 5, sameContent: true }
const failed: CheckFact = { ...passed, exitCode: 1 }

/** Everything that a proven completion has. */
const proven: VerdictFacts = {
  status: 'success',
  outcome,
  measurement: 'exact',
  prefix: '',
  changed: [{ path: 'src/limit.ts' }],
  hasOtherWork: false,
  claimedUnchanged: [],
  checks: [passed],
}

const nothing = { changed: [] } as const
const promises = { criteria: [], keeps: [] } as const
const weakened = [{ path: 'test/limit.test.ts', line: 14, text: 'test skipped' }]
const criterion = 'At most 5 attempts per minute.'

interface Case {
  readonly facts: Partial<VerdictFacts>
  readonly rules: readonly VerdictRule[]
}

/** Each rule where it holds, and where it does not although the facts are similar. */
const cases: Readonly<Record<string, Case>> = {
  'a check that passed proves it': { facts: {}, rules: [] },
  'without a changed file': { facts: nothing, rules: ['nothing_changed'] },
  'with work in another place': { facts: { ...nothing, hasOtherWork: true }, rules: [] },
  'with a reason for no change': {
    facts: { ...nothing, outcome: { ...outcome, noChangeReason: 'It was there.' } },
    rules: ['no_change'],
  },
  'with an empty reason for no change': {
    facts: { ...nothing, outcome: { ...outcome, noChangeReason: ' ' } },
    rules: ['nothing_changed'],
  },
  'where no change is expected': { facts: { ...nothing, promises: { ...promises, changes: [] } }, rules: [] },
  'in part, without a changed file': { facts: { ...nothing, status: 'partial_success' }, rules: [] },
  unmeasured: { facts: { ...nothing, measurement: 'unknown' }, rules: ['measurement_partial'] },
  'with a file that is named and did not change': {
    facts: { claimedUnchanged: ['src/login.ts'] },
    rules: ['claimed_not_changed'],
  },
  'with a file that is named, and a new one that does not exist': {
    facts: { claimedUnchanged: ['src/login.ts', 'src/new.ts'], claimedNew: ['src/new.ts', 'src/other.ts'] },
    rules: ['claimed_not_changed', 'claimed_not_changed'],
  },
  'in part, with a file that is named and did not change': {
    facts: { status: 'partial_success', claimedUnchanged: ['src/login.ts'] },
    rules: ['claimed_not_changed'],
  },
  'with a failed check': { facts: { checks: [failed] }, rules: ['check_failed'] },
  'with one failed check of two': { facts: { checks: [passed, failed] }, rules: ['check_failed'] },
  'with a check that failed beside another agent': {
    facts: { checks: [{ ...failed, isShared: true }] },
    rules: ['check_failed_shared'],
  },
  'with a check that failed on other content': {
    facts: { checks: [{ ...failed, sameContent: false }] },
    rules: ['check_not_run'],
  },
  'with a check that passed on other content': {
    facts: { checks: [{ ...passed, sameContent: false }] },
    rules: ['check_not_run'],
  },
  'with a check that never ran': {
    facts: { checks: [{ ...passed, state: 'not_run', exitCode: null, ranAt: null, sameContent: false }] },
    rules: ['check_not_run'],
  },
  'with a check that nobody approved': {
    facts: {
      checks: [{ ...passed, state: 'not_approved', exitCode: null, ranAt: null, sameContent: false }],
    },
    rules: ['check_not_approved'],
  },
  'with a disturbed check': {
    facts: { checks: [{ ...passed, state: 'disturbed' }] },
    rules: ['check_disturbed'],
  },
  'without a check': { facts: { checks: [] }, rules: ['no_check'] },
  'with a package that is in no manifest': {
    facts: { missingPackages: ['left-pad'] },
    rules: ['packages_mismatch'],
  },
  'without an expected change': {
    facts: { promises: { ...promises, changes: ['src/**', 'test/**'] } },
    rules: ['changes_missing'],
  },
  'in part, without an expected change': {
    facts: { status: 'partial_success', promises: { ...promises, changes: ['test/**'] } },
    rules: [],
  },
  'with every expected change': { facts: { promises: { ...promises, changes: ['src/**'] } }, rules: [] },
  'with a changed file that must stay': {
    facts: { promises: { ...promises, keeps: ['src/limit.ts'] } },
    rules: ['keeps_changed'],
  },
  'with a file renamed that must stay': {
    facts: {
      changed: [{ path: 'src/new.ts', from: 'src/limit.ts' }],
      promises: { ...promises, keeps: ['src/limit.ts'] },
    },
    rules: ['keeps_changed'],
  },
  'with a file changed by another that must stay': {
    facts: {
      changed: [{ path: 'src/limit.ts' }, { path: 'package.json', isForeign: true }],
      promises: { ...promises, keeps: ['package.json'] },
    },
    rules: [],
  },
  'with patterns from the folder of the project': {
    facts: {
      prefix: 'app/',
      changed: [{ path: 'app/src/limit.ts' }, { path: 'package.json' }],
      promises: { ...promises, changes: ['src/**'], keeps: ['package.json'] },
    },
    rules: [],
  },
  'with a weakened test': { facts: { weakened }, rules: ['tests_weakened'] },
  'with a weakened test that the summary names': {
    facts: { weakened, outcome: { ...outcome, summary: 'Skipped one in test/limit.test.ts: it is slow.' } },
    rules: [],
  },
  'with a weakened test that the summary only names': {
    facts: { weakened, outcome: { ...outcome, summary: 'Limits logins. Tested in test/limit.test.ts.' } },
    rules: ['tests_weakened'],
  },
  'with a weakened test beside a sentence about another file': {
    facts: {
      weakened,
      outcome: { ...outcome, summary: 'Removed src/old.ts. See test/limit.test.ts for the limit.' },
    },
    rules: ['tests_weakened'],
  },
  'with a weakened test that the outcome lists': {
    facts: { weakened, outcome: { ...outcome, weakened: ['./test/limit.test.ts'] } },
    rules: [],
  },
  'with a criterion that is met': {
    facts: {
      promises: { ...promises, criteria: [criterion] },
      outcome: {
        ...outcome,
        criteria: [{ criterion: 'at most 5 attempts per  minute', met: true, how: null }],
      },
    },
    rules: [],
  },
  'with a criterion that is not met': {
    facts: {
      promises: { ...promises, criteria: [criterion] },
      outcome: { ...outcome, criteria: [{ criterion, met: false, how: 'Ten.' }] },
    },
    rules: ['criterion_unmet'],
  },
  'with a criterion without an answer': {
    facts: {
      promises: { ...promises, criteria: [criterion] },
      outcome: { ...outcome, criteria: [{ criterion: 'Another.', met: true, how: null }] },
    },
    rules: ['criterion_unanswered'],
  },
  'with a claimed file that does not exist': {
    facts: { claimedMissing: ['test/limit.test.ts'] },
    rules: ['claimed_not_found'],
  },
  'with a claimed file that no attempt at the task changed': {
    facts: { claimedNotOwn: ['src/money.ts'] },
    rules: ['claimed_not_own'],
  },
  'measured in part': {
    facts: { measurement: 'partial', measureDoubts: ['A folder could not be read.'] },
    rules: ['measurement_partial'],
  },
  'with a file that another agent may have changed': {
    facts: {
      measurement: 'partial',
      uncertain: [{ path: 'src/limit.ts', isProbablyOthers: false, agents: ['noor'] }],
    },
    rules: ['measurement_partial'],
  },
  'measured in part, while it is settled whose each file is': {
    facts: { measurement: 'partial' },
    rules: [],
  },
  'with a check that a person rejected': {
    facts: {
      checks: [
        {
          ...passed,
          state: 'not_approved',
          exitCode: null,
          ranAt: null,
          sameContent: false,
          refusal: { author: 'Dana', reason: '', hash: 'abc' },
        },
      ],
    },
    rules: ['check_not_approved'],
  },
  'with a file whose content is lost': { facts: { lost: ['src/lost.ts'] }, rules: ['files_lost'] },
  'without a promise of its mission': {
    facts: { promises: { ...promises, leftOut: [{ list: 'check', text: 'npm test' }] } },
    rules: ['promises_left_out'],
  },
  'with an expected change that git may have brought': {
    facts: {
      changed: [{ path: 'src/limit.ts', isForeign: true }],
      promises: { ...promises, changes: ['src/**'] },
    },
    rules: ['changes_uncertain'],
  },
  'done again, where only files changed that may be others': {
    facts: { sinceSentBack: { is: 'unknown', paths: ['src/other.ts'] } },
    rules: ['changes_uncertain'],
  },
  'without a change but before the start': {
    facts: { ...nothing, betweenAttempts: ['src/early.ts'] },
    rules: ['nothing_changed'],
  },
  'with work on another branch only': {
    facts: { ...nothing, hasOtherWork: true, onlyElsewhere: ['src/limit.ts'] },
    rules: ['changes_uncertain'],
  },
  'with a check that saw a file that is not tracked any more': {
    facts: { untracked: ['src/old.ts'] },
    rules: ['check_on_untracked'],
  },
  'with a contradicted subtask': {
    facts: { contradictedSubtasks: ['t-2' as TaskId] },
    rules: ['subtask_contradicted'],
  },
}

describe('judging a completion', () => {
  test.each(Object.entries(cases))('%s', (_, { facts, rules }) => {
    const verdict = judgeClaim({ ...proven, ...facts })
    const isContradicted = rules.some((rule) => contradictionRules.some((one) => one === rule))
    expect(verdict?.reasons.map(({ rule }) => rule)).toEqual(rules)
    expect(verdict?.is).toBe(isContradicted ? 'contradicted' : rules.length > 0 ? 'unproven' : 'proven')
    for (const { rule, fix } of verdict?.reasons ?? []) expect(fix, rule).toMatch(/\S/)
  })

  test('has a case for each rule, so that each reason names a fix', () => {
    const covered = new Set(Object.values(cases).flatMap(({ rules }) => rules))
    expect(verdictRules.filter((rule) => !covered.has(rule))).toEqual([])
  })

  test('in part, a failed check leaves it unproven', () => {
    const verdict = judgeClaim({ ...proven, status: 'partial_success', checks: [failed] })
    expect(verdict).toMatchObject({
      is: 'unproven',
      reasons: [{ rule: 'check_failed', fix: expect.stringMatching(/\S/) }],
    })
  })

  test('a failed attempt claims nothing', () => {
    expect(judgeClaim({ ...proven, ...nothing, status: 'failed', checks: [failed] })).toBeNull()
  })

  test('names the paths of a reason, and keeps every check', () => {
    const facts = {
      ...proven,
      claimedUnchanged: ['src/a.ts', 'src/b.ts'],
      checks: [passed, { ...failed, ranAt: null }],
    }
    expect(judgeClaim(facts)).toMatchObject({
      reasons: expect.arrayContaining([expect.objectContaining({ paths: ['src/a.ts', 'src/b.ts'] })]),
      checks: facts.checks,
    })
  })
})
