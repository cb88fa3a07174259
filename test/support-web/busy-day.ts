import { join } from 'node:path'
import { shopPlan } from '../support/shop-plan.ts'
import { type Day, lines } from './day.ts'

/** Three agents on one mission, with a decision, a blocker, a file outside the scope, and a review that waits. */
export async function fillBusyDay(day: Day): Promise<void> {
  const [mira, otto, juno, rune] = ['mira', 'otto', 'juno', 'rune'].map((name) => day.agent(name))
  if (!mira || !otto || !juno || !rune) throw new Error('four agents were made')
  day.write('plan.json', shopPlan())
  await day.person('plan_import', { file: join(day.folder, 'plan.json') })
  day.remove('plan.json')
  const mission = await mira('start_mission', {
    name: 'Streaming diff parser',
    objective: 'Parse a patch of any size in constant memory, with the same tree as today.',
    profile: 'standard',
    scope: 'src/diff/**, test/diff/**',
  })
  const in_ = (phase: number, phase_name: string) => ({ mission_id: mission.mission_id, phase, phase_name })

  const map = await mira('start_task', {
    ...in_(1, 'Explore'),
    name: 'Map the callers of parseDiff',
    goal: 'Know who calls it',
    areas: ['docs/'],
    agent_name: 'mira',
    caller_type: 'orchestrator',
  })
  day.pass(9)
  day.write(
    'docs/callers.md',
    lines(24, (at) => `- caller ${at}`),
  )
  day.pass(15)
  await mira('complete_task', done(map, 'Listed 24 callers in docs/callers.md.'))

  day.pass(4)
  const memory = await otto('start_task', {
    ...in_(1, 'Explore'),
    name: 'Measure memory on the 80 MB patch',
    goal: 'A number to beat',
    areas: ['bench/'],
    agent_name: 'otto',
  })
  day.pass(20)
  await otto('log_milestone', { task_id: memory.task_id, message: 'Baseline: 1.9 GB resident', progress: 60 })
  day.write(
    'bench/memory.ts',
    lines(112, (at) => `// step ${at}`),
  )
  day.pass(24)
  await otto('complete_task', {
    ...done(memory, 'Peak 1.9 GB; bench/memory.ts repeats it.'),
    phase_complete: true,
  })

  const hunk = await mira('start_task', {
    ...in_(2, 'Build'),
    name: 'Hunk reader as an async iterator',
    goal: 'Read hunks one at a time',
    areas: ['src/diff/', 'test/diff/'],
    agent_name: 'mira',
  })
  day.pass(12)
  await mira('log_decision', {
    task_id: hunk.task_id,
    category: 'architecture',
    question: 'Push or pull?',
    options_considered: ['event emitter', 'async iterator'],
    chosen: 'async iterator',
    reasoning: 'The consumer sets the pace, so memory stays flat without back-pressure code of our own.',
    trade_offs: 'One promise for each hunk.',
  })
  day.write(
    'src/diff/hunks.ts',
    lines(140, (at) => `export const hunk${at} = ${at}`),
  )
  day.write(
    'src/diff/reader.ts',
    lines(80, (at) => `export const row${at} = ${at}`),
  )
  day.pass(29)
  await mira('complete_task', done(hunk, 'Hunks are read one at a time.'))

  const binary = await otto('start_task', {
    ...in_(2, 'Build'),
    name: 'Binary patches without decoding',
    goal: 'Pass base85 blocks through untouched',
    areas: ['src/diff/**', 'test/diff/**'],
    agent_name: 'otto',
  })
  day.pass(22)
  await otto('log_issue', {
    task_id: binary.task_id,
    type: 'dependency_conflict',
    description:
      'The binary fixtures need LFS credentials: `fixtures/large.bin` cannot be fetched. Provide a token, or allow a generated fixture of the same size?',
    resolution: 'Worked on with a 4 KB fixture that I generated.',
    requires_human_review: true,
  })
  await otto('log_milestone', { task_id: binary.task_id, message: 'Blocks pass through', progress: 35 })
  day.write(
    'src/diff/binary.ts',
    lines(77, (at) => `// block ${at}`),
  )

  const property = await juno('start_task', {
    ...in_(2, 'Build'),
    name: 'Property tests: print ∘ parse = id',
    goal: 'Every patch survives a round trip',
    areas: ['test/diff/**'],
    agent_name: 'juno',
  })
  day.pass(17)
  await juno('log_milestone', {
    task_id: property.task_id,
    message: '10,000 random patches pass',
    progress: 90,
  })
  day.write(
    'test/diff/property.test.ts',
    lines(210, (at) => `// property ${at}`),
  )
  day.write(
    'package.json',
    '{\n  "name": "diffkit",\n  "version": "3.1.0",\n  "type": "module",\n  "devDependencies": { "fast-check": "4.0.0" }\n}\n',
  )
  day.write(
    'scripts/corpus.sh',
    lines(12, (at) => `echo ${at}`),
  )
  day.pass(18)
  await juno('complete_task', {
    task_id: property.task_id,
    status: 'partial_success',
    outcome: {
      summary: 'Print and parse are inverse for 10,000 patches. Touched `src/diff/printer.ts` for a fix.',
      achievements: ['10,000 random patches survive a round trip'],
      limitations: ['Mode changes are not generated yet'],
      manual_review_needed: true,
      manual_review_reason: 'The generator leaves out renames. Is that good enough for this release?',
    },
    metadata: { packages_added: ['fast-check'], commands_executed: ['npm test'], tests_status: 'passed' },
  })

  const rename = await mira('start_task', {
    ...in_(2, 'Build'),
    name: 'Rename and copy detection',
    goal: 'Report `similarity index` headers as one rename entry, not as a delete and an add.',
    areas: ['src/diff/**', 'test/diff/**'],
    agent_name: 'mira',
  })
  day.pass(6)
  await mira('log_decision', {
    task_id: rename.task_id,
    category: 'trade_off',
    question: 'How far back are copies looked for?',
    options_considered: ['one pass with a look-behind', 'a second pass'],
    chosen: 'One pass, 64 KB behind',
    reasoning: 'Copies further back than that are reported as adds, as git does with -C off.',
  })
  day.write(
    'src/diff/rename.ts',
    lines(141, (at) => `// rename ${at}`),
  )
  day.remove('src/diff/regex-parser.ts')
  day.write('README.md', '# diffkit\n\nReads and writes patches, as streams.\n')
  day.pass(5)
  await mira('log_milestone', {
    task_id: rename.task_id,
    message: 'Renames pass; copies still counted as adds.',
    progress: 70,
  })

  const docs = await rune('start_task', {
    mission_id: mission.mission_id,
    name: 'Cache the corpus in CI',
    goal: 'CI under four minutes',
    areas: ['.ci/'],
    agent_name: 'rune',
  })
  day.pass(3)
  await otto('log_milestone', { task_id: binary.task_id, message: 'Literal blocks too', progress: 45 })
  await mira('log_milestone', { task_id: rename.task_id, message: 'Looking at the corpus', progress: 72 })
  await rune('log_milestone', { task_id: docs.task_id, message: 'Measuring', progress: 10 })
  day.pass(2)

  day.write('.waymark/processes/release-gate.yaml', releaseGate)
  await juno('state_gate_create_run', { process_id: 'release-gate', task_id: rename.task_id })

  const old = await day.agent('ada')('start_mission', {
    name: 'Publish 3.1',
    objective: 'Tag, publish, tell',
    profile: 'simple',
  })
  const tag = await day.agent('ada')('start_task', {
    mission_id: old.mission_id,
    name: 'Tag the release',
    agent_name: 'ada',
    areas: ['CHANGELOG.md'],
  })
  day.write('CHANGELOG.md', '# 3.1.0\n\n- Streams\n')
  await day.agent('ada')('complete_task', done(tag, 'Tagged 3.1.0.'))
  await day.agent('ada')('complete_mission', {
    mission_id: old.mission_id,
    status: 'completed',
    summary: 'Published.',
  })
}

function done(task: { readonly task_id: string }, summary: string) {
  return { task_id: task.task_id, status: 'success', outcome: { summary, achievements: [], limitations: [] } }
}

/** A process that waits for a person from its beginning. */
const releaseGate = `process:
  dialect: 1
  id: release-gate
  version: "1.0.0"
  name: Release gate
  description: A person looks before anything is merged.
  initial_state: review
roles:
  - { name: agent, kind: agent, description: Writes }
  - { name: reviewer, kind: human, description: Looks at it }
states:
  - { name: review, description: Waits for a look }
  - { name: merged, description: It is merged, is_final: true }
  - { name: dropped, description: It is not merged, is_final: true, outcome: failed }
events:
  - { name: approve, description: Merge it, allowed_roles: [reviewer] }
  - { name: reject, description: Drop it, allowed_roles: [reviewer] }
transitions:
  - { from: review, event: approve, to: merged }
  - { from: review, event: reject, to: dropped }
`
