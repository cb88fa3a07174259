/** What the agents of the day write besides code. */
export const exploration = `# What plans with dependencies touch

- \`src/domain/id.ts\`: plans need ids of their own, of milestones and notes
- \`src/domain/track/task.ts\`: a planned task is the same task that is worked on later
- \`src/domain/failure.ts\`: a refused dependency says which circle it would close

Nothing depends on the order of tasks yet, so nothing breaks.
`

export const planText = `# Plans with dependencies

1. \`src/domain/plan/plan.ts\`, \`happening.ts\`: what can be asked of a plan and what can happen to it
2. \`src/domain/plan/cycle.ts\`: the shortest circle that a new dependency would close
3. \`src/domain/plan/chains.ts\`, \`ready.ts\`: the order of ready work

Risk: a circle that is not found makes a task that is never ready. Proved by \`node --test test/plan.test.ts\`.
`

export function results(outcome: string): string {
  return `# Results\n\n\`node --test test/plan.test.ts\`: ${outcome}.\n`
}

export const testFile = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCycle } from '../src/domain/plan/cycle.ts'

const edges = new Map([
  ['roof', ['walls']],
  ['walls', ['floor']],
])

test('a circle is told from its beginning to its end', () => {
  assert.deepEqual(findCycle(edges, 'floor', 'roof'), ['floor', 'roof', 'walls', 'floor'])
})

test('what closes no circle is admitted', () => {
  assert.equal(findCycle(edges, 'roof', 'floor'), null)
})

test('a task that waits for itself is a circle of one', () => {
  assert.deepEqual(findCycle(edges, 'roof', 'roof'), ['roof', 'roof'])
})
`

export const proposal = `# Attribute changes to attempts

What changes: \`src/domain/track/attribution.ts\` is new. Each changed file is attributed to the attempts that were open in
the stretches of time that touched it.

Why: two agents in one work tree must not be blamed for each other's files.

Risk: low, nothing calls it yet. It is undone by deleting the two files.
`

export const reportScript = `#!/usr/bin/env node
// Fills docs/report.template.md from the output of git, without asking anybody.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const changed = execFileSync('git', ['diff', '--name-status', 'HEAD~1'], { encoding: 'utf8' })
const template = readFileSync('docs/report.template.md', 'utf8')
writeFileSync('report.md', template.replace('{{changes}}', changed))
`
