import { expect, test } from 'vitest'
import type { RecordedStep } from '../../lines/domain/line-hashes.ts'
import { canonicalText } from '../../store/fingerprint.ts'
import type { NewProjectEvent } from '../domain/project-event.ts'
import { chainedBody, newBody, sealLineHashes } from './line-seals.ts'

const step: RecordedStep = {
  path: 'src/ä.ts',
  from: 'src/a.ts',
  before: null,
  after: 'b1',
  origin: 'mixed',
  hunks: [[1, 0, 1, 2]],
  added: 'abcdefghijklmnopqrstuv',
  removed: '',
  around: { lines: [3], hashes: 'ABCDEFGHIJK' },
  reformatted: [[1, 2]],
  moved: [['src/b.ts', 4, 5]],
  alike: [[2, 1]],
  brought: [[2, 1]],
  broughtBy: { commit: 'c0', command: 'merge' },
  staged: 'b0',
  link: 0,
  reported: true,
  owners: ['a-1'],
  turns: ['n-1'],
  certainty: 'probable',
}

function recordedLinesEvent(steps: readonly RecordedStep[]): NewProjectEvent {
  const [event] = sealLineHashes([
    {
      kind: 'lines.recorded',
      span: {
        tree: '/home/ann/shop',
        since: 1,
        until: 2,
        headBefore: null,
        headAfter: 'c1',
        stashMoved: false,
        ran: true,
        broughtFrom: ['c0'],
        steps,
      },
    },
  ])
  return event as NewProjectEvent // as many as there were
}

test('the text of recorded lines is the canonical one, and the chain covers what it covers of that text', () => {
  const { path, before, after, origin, hunks, added, removed, around, owners, certainty } = step
  const least = { path, before, after, origin, hunks, added, removed, around, owners, certainty }
  const plain = { ...least, added: '', removed: '', around: { lines: [], hashes: '' } }
  for (const steps of [[step, least, plain], [{ ...step, path: 'half \ud800' }]]) {
    const event = recordedLinesEvent(steps)
    const { kind, ...rest } = event
    const { body, chained } = newBody(event)
    expect(body).toBe(canonicalText(rest))
    expect(chained).toBe(chainedBody(kind, body))
    expect(chained).not.toContain(step.added)
  }
})

test('each step has a seal of its own, and one without hashes has none', () => {
  const { body } = newBody(
    recordedLinesEvent([step, step, { ...step, added: '', around: { lines: [], hashes: '' } }]),
  )
  const { steps } = JSON.parse(body).span
  expect(steps[0].seal).toMatch(/^[\w-]{16}$/)
  expect(steps[1].seal).not.toBe(steps[0].seal)
  expect(steps[2].seal).toBeUndefined()
})
