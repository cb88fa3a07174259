import { describe, expect, test } from 'vitest'
import { type Answer, agentActor, openProject, person, troubles } from '../support/project.ts'

const mira = { actor: { ...agentActor, name: 'mira' } }
const noor = { actor: { ...agentActor, name: 'noor' } }

/** Two agents at work in one tree without hooks, and a file that either may have changed. */
async function sharedFile() {
  const project = await openProject()
  const start = async (name: string, as: typeof mira) =>
    (await project.call('start_task', { name, agent_name: as.actor.name }, as)).task_id as string
  const first = await start('Add the form', mira)
  const second = await start('Add the list', noor)
  project.write('src/list.ts', 'export const list = 1\n')
  const complete = (task_id: string, as: typeof mira, summary: string, outcome: object = {}) =>
    project.call('complete_task', { task_id, status: 'success', outcome: { summary, ...outcome } }, as)
  const correct = (task_id: string, as: { readonly actor: object }) =>
    project.call(
      'complete_task',
      { task_id, correction: 'Not mine.', not_mine: ['src/list.ts'] },
      as as never,
    )
  const files = async (id: string) =>
    (await project.call('changes', { id })).changes.map(({ path, attribution }: Answer) => [
      path,
      attribution,
    ])
  const authors = async () =>
    (await project.call('blame', { file: 'src/list.ts' })).ranges.map(
      ({ task, tasks, attribution }: Answer) => [tasks ?? [task], attribution],
    )
  const isWhole = async () => expect(troubles(await project.call('doctor'))).toEqual([])
  return { ...project, first, second, complete, correct, files, authors, isWhole }
}

describe('a file that two agents may have changed', () => {
  test('is of the one that claims it, if the other says that it is not its own', async () => {
    const { first, second, complete, files, isWhole } = await sharedFile()
    const denied = await complete(first, mira, 'Added the form.', { not_mine: ['src/list.ts'] })
    expect(denied).toMatchObject({
      files_changed: { added: [], modified: [], deleted: [] },
      contested_files: [{ path: 'src/list.ts', candidates: ['noor'] }],
    })
    expect(await files(first)).toEqual([])
    await complete(second, noor, 'Created src/list.ts.')
    expect(await files(second)).toEqual([['src/list.ts', 'probable']])
    await isWhole()
  })

  test('asks the second that names it for no name, and for no denial if both changed it', async () => {
    const { first, second, complete, call, write, remove } = await sharedFile()
    const fixOf = ({ verdict }: Answer) =>
      verdict.reasons.find(({ rule }: Answer) => rule === 'measurement_partial').fix
    write('src/form.ts', 'export const form = 1\n')
    const open = await call(
      'complete_task',
      { task_id: first, status: 'success', outcome: { summary: 'Created src/list.ts.' }, preview: true },
      mira,
    )
    expect(fixOf(open)).toMatch(/^Where you changed src\/form\.ts, name it in the summary/)
    remove('src/form.ts')
    const before = await complete(first, mira, 'Created src/list.ts.')
    expect(fixOf(before)).toMatch(/^You named it, which is enough unless another agent names it too\./)
    const after = await complete(second, noor, 'Created src/list.ts.')
    expect(fixOf(after)).toMatch(/^You and another agent named it\. If both of you changed it, deny nothing/)
    expect(JSON.stringify(after)).not.toContain('name it in your summary')
  })

  test('is certainly of the one whose scope alone covers it and that alone claims it', async () => {
    const project = await openProject()
    const start = async (name: string, areas: readonly string[], as: typeof mira) =>
      (await project.call('start_task', { name, areas, agent_name: as.actor.name }, as)).task_id
    const first = await start('Add the form', ['src/form/'], mira)
    await start('Add the list', ['src/list/'], noor)
    project.write('src/form/a.ts', 'export {}\n')
    const complete = (summary: string) =>
      project.call(
        'complete_task',
        { task_id: first, status: 'success', outcome: { summary }, preview: true },
        mira,
      )
    expect(await complete('Done.')).toMatchObject({ measurement: 'partial' })
    expect(await complete('Added src/form/a.ts.')).toMatchObject({ measurement: 'exact' })
  })

  test('is of the one that does not deny it, although it says nothing', async () => {
    const { first, second, complete, files } = await sharedFile()
    await complete(first, mira, 'Added the form.', { not_mine: ['./src/list.ts'] })
    await complete(second, noor, 'Done.')
    expect(await files(second)).toEqual([['src/list.ts', 'probable']])
  })

  test('leaves the files of an ended task when the other claims it alone', async () => {
    const { first, second, complete, files, authors, isWhole, call } = await sharedFile()
    await complete(first, mira, 'Added the form.')
    expect(await files(first)).toHaveLength(1)
    expect(await authors()).toEqual([[[first, second], 'contested']])
    await complete(second, noor, 'Created src/list.ts.')
    expect(await authors()).toEqual([[[second], 'probable']])
    expect([await files(first), await files(second)]).toEqual([[], [['src/list.ts', 'probable']]])
    expect((await call('show', { id: first })).attempts[0].measured).toMatchObject({
      counts: { added: 0 },
      contested_files: [{ path: 'src/list.ts', candidates: ['noor'] }],
    })
    await isWhole()
  })

  test('is of the one that named it first, whatever was left open about the file before', async () => {
    const { first, second, call, complete, write, git, isWhole } = await sharedFile()
    const reasons = async (id: string) => (await call('show', { id })).attempts[0].verdict.reasons
    await complete(first, mira, 'Done.')
    await complete(second, noor, 'Done.')
    git('add', '-A')
    git('commit', '-qm', 'Add a list')
    for (const words of ['Added the detail.', 'Added the detail. I did not touch src/list.ts.']) {
      const start = async (name: string, as: typeof mira) =>
        (await call('start_task', { name, agent_name: as.actor.name }, as)).task_id as string
      const [list, detail] = [await start('Sort the list', mira), await start('Add the detail', noor)]
      write('src/list.ts', `export const list = '${words}'\n`)
      await complete(list, mira, 'Sorted src/list.ts.')
      expect(await reasons(list)).toMatchObject([
        { rule: 'no_check' },
        { rule: 'measurement_partial', paths: ['src/list.ts'] },
      ])
      await complete(detail, noor, words)
      expect(await reasons(list)).toMatchObject([{ rule: 'no_check' }])
    }
    await isWhole()
  })

  test('counts for neither the verdict nor the mission that it left', async () => {
    const project = await openProject()
    const { call } = project
    const { mission_id } = await call('start_mission', { name: 'Forms', objective: 'Forms' })
    const start = (name: string, as: typeof mira, more: object = {}) =>
      call('start_task', { name, agent_name: as.actor.name, ...more }, as)
    const own = { mission_id, areas: ['src/'] }
    const first = await start('Add the form', mira, {
      ...own,
      done_when: { keeps: ['src/list.test.ts', 'src/list.ts'], check: [] },
    })
    const second = await start('Add the list', noor)
    project.write('src/form.ts', 'export const form = 1\n')
    project.write('src/list.ts', 'export const list = 1\nexport const more = 2\n')
    project.write('.github/workflows/ci.yml', 'on: push\n')
    const complete = ({ task_id }: Answer, as: typeof mira, summary: string) =>
      call('complete_task', { task_id, status: 'success', outcome: { summary } }, as)
    const shown = async () => (await call('show', { id: first.task_id })).attempts[0]
    const figures = async () => {
      const [ofMission, { text }, { all }] = await Promise.all([
        call('mission_changes', { id: mission_id }),
        call('report', { mission: mission_id, format: 'json' }),
        call('stats', { mission: mission_id }),
      ])
      const { files, added_lines } = JSON.parse(text).totals
      return {
        mission: [ofMission.files.map(({ path }: Answer) => path), ofMission.added_lines],
        report: [files, added_lines],
        stats: [all.lines.added, all.out_of_scope.files],
      }
    }
    const items = async () => (await call('inbox')).items.map(({ kind }: Answer) => kind)
    await complete(first, mira, 'Added the form.')
    expect(await shown()).toMatchObject({
      measured: { scope: { matches: false }, counts: { added: 3 } },
      verdict: { is: 'contradicted', reasons: [{ rule: 'keeps_changed' }, {}, {}] },
    })
    expect(await items()).toEqual(['scope', 'verdict'])
    const workflow = '.github/workflows/ci.yml'
    const paths = [workflow, 'src/form.ts', 'src/list.ts']
    expect(await figures()).toEqual({ mission: [paths, 4], report: [3, 4], stats: [4, 1] })
    await complete(second, noor, `Created src/list.ts and ${workflow}.`)
    expect(await shown()).toMatchObject({
      measured: {
        scope: { matches: true, unexpected: [] },
        counts: { added: 1 },
        warnings: expect.arrayContaining([expect.stringMatching(/src\/list\.ts.*noor/)]),
      },
      verdict: { is: 'unproven', reasons: [{ rule: 'no_check' }, { rule: 'measurement_partial' }] },
      former_verdicts: [{ verdict: { is: 'contradicted' } }],
    })
    expect(await items()).toEqual([])
    expect(await figures()).toEqual({ mission: [['src/form.ts'], 1], report: [1, 1], stats: [1, 0] })
    expect(troubles(await call('doctor'))).toEqual([])
  })

  test.each([['its agent claims it'], ['the other denies it']])(
    'is no doubt any more once %s',
    async (how) => {
      const project = await openProject()
      const start = async (name: string, areas: readonly string[], as: typeof mira) =>
        (await project.call('start_task', { name, areas, agent_name: as.actor.name }, as)).task_id
      const first = await start('Add the form', ['src/form/'], mira)
      const second = await start('Add the list', ['src/list/'], noor)
      project.write('src/form/a.ts', 'export {}\n')
      project.write('src/list/a.ts', 'export {}\n')
      const complete = (task_id: string, summary: string, as: typeof mira) =>
        project.call('complete_task', { task_id, status: 'success', outcome: { summary } }, as)
      const doubts = async () =>
        (await project.call('show', { id: first })).attempts[0].verdict.reasons.map(
          ({ rule, paths }: Answer) => [rule, paths],
        )
      await complete(first, 'Created src/form/a.ts.', mira)
      expect(await doubts()).toEqual([
        ['no_check', undefined],
        ['measurement_partial', ['src/list/a.ts']],
      ])
      if (how === 'its agent claims it') await complete(second, 'Created src/list/a.ts.', noor)
      else {
        const outcome = { summary: 'As before.', not_mine: ['src/list/a.ts'] }
        await project.call('complete_task', { task_id: first, correction: 'Not mine.', outcome }, mira)
      }
      expect(await doubts()).toEqual([['no_check', undefined]])
      expect(troubles(await project.call('doctor'))).toEqual([])
    },
  )

  test('stays in the files of an ended task that claimed it, too', async () => {
    const { first, second, complete, files, authors } = await sharedFile()
    await complete(first, mira, 'Created src/list.ts.')
    await complete(second, noor, 'Created src/list.ts.')
    expect(await authors()).toEqual([[[first, second], 'contested']])
    expect(await files(first)).toEqual([['src/list.ts', 'probable']])
    expect(await files(second)).toEqual([['src/list.ts', 'contested']])
  })

  test('can be shown to a person after its completion: its agent asks for a review, once', async () => {
    const { first, second, complete, call, refused, isWhole } = await sharedFile()
    await complete(first, mira, 'Created src/list.ts.')
    await complete(second, noor, 'Created src/list.ts.')
    const again = { task_id: first, status: 'success', outcome: { summary: 'Created src/list.ts, too.' } }
    expect((await refused('complete_task', again, mira)).hint).toContain('"manual_review_needed": true')
    const asking = { ...again, outcome: { ...again.outcome, manual_review_needed: true } }
    expect(await call('complete_task', asking, mira)).toMatchObject({
      amended: true,
      verdict: { is: 'unproven' },
      waits_for: [{ kind: 'review' }],
    })
    const { items } = await call('inbox')
    expect(items).toMatchObject([{ kind: 'review', task_id: first }])
    const more = { ...asking, outcome: { ...asking.outcome, summary: 'Both of us changed src/list.ts.' } }
    expect((await refused('complete_task', more, mira)).reason).toBe('attempt_already_completed')
    await call('approve', { id: items[0].item_id }, { actor: person })
    expect((await call('show', { id: first })).attempts[0]).toMatchObject({ accepted_by: person.name })
    await isWhole()
  })

  test('is not in the files of one that does not claim it, after the other did', async () => {
    const { first, second, complete, files, authors, isWhole } = await sharedFile()
    await complete(second, noor, 'Created src/list.ts.')
    await complete(first, mira, 'Added the form.')
    expect(await authors()).toEqual([[[second], 'probable']])
    await isWhole()
    expect([await files(first), await files(second)]).toEqual([[], [['src/list.ts', 'probable']]])
  })

  test('leaves by a later correction of its agent, and needs a person when all deny it', async () => {
    const { first, second, complete, correct, files, isWhole, call } = await sharedFile()
    await complete(first, mira, 'Added the form.')
    await complete(second, noor, 'Done.')
    expect(await correct(first, mira)).toMatchObject({
      corrected: true,
      files_taken_off: ['src/list.ts'],
      counts: { added: 0 },
      verification: { warnings: [expect.stringContaining('Not counted here any more: src/list.ts')] },
      verdict: { reasons: [{ rule: 'no_check' }] },
    })
    expect(await files(first)).toEqual([])
    expect(await correct(second, noor)).toMatchObject({ files_taken_off: [] })
    expect(await files(second)).toHaveLength(1)
    expect((await call('inbox')).items).toMatchObject([
      { kind: 'scope', task_id: second, paths: ['src/list.ts'] },
    ])
    await isWhole()
  })

  test('is of the one that is left once the others deny it, although it names no file', async () => {
    const { first, second, complete, correct, call, isWhole } = await sharedFile()
    await complete(first, mira, 'Added the list.')
    await complete(second, noor, 'Done.')
    const doubts = async () =>
      (await call('show', { id: first })).attempts[0].verdict.reasons.map(({ rule }: Answer) => rule)
    expect(await doubts()).toEqual(['no_check', 'measurement_partial'])
    await correct(second, noor)
    expect(await doubts()).toEqual(['no_check'])
    await isWhole()
  })

  test('stays in doubt where it is a test that nobody names, which may be weaker', async () => {
    const project = await openProject()
    const start = async (name: string, as: typeof mira) =>
      (await project.call('start_task', { name, agent_name: as.actor.name }, as)).task_id
    const [first, second] = [await start('Add the form', mira), await start('Add the list', noor)]
    project.write('src/list.test.ts', "test.skip('lists', () => list())\n")
    const end = (task_id: string, as: typeof mira) =>
      project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } }, as)
    await end(first, mira)
    await end(second, noor)
    const denial = { task_id: second, correction: 'Not mine.', not_mine: ['src/list.test.ts'] }
    await project.call('complete_task', denial, noor)
    expect((await project.call('show', { id: first })).attempts[0].verdict.reasons).toContainEqual(
      expect.objectContaining({ rule: 'measurement_partial', paths: ['src/list.test.ts'] }),
    )
  })

  test('waits for no person any more once its agent denies it, and the answer says so', async () => {
    const project = await openProject()
    const start = { name: 'Add the form', areas: ['src/form/'], agent_name: 'mira' }
    const { task_id } = await project.call('start_task', start, mira)
    await project.call('start_task', { name: 'Add the list', agent_name: 'noor' }, noor)
    project.write('src/list.ts', 'export const list = 1\n')
    const outcome = { summary: 'src/list.ts has the form.' }
    const ended = await project.call('complete_task', { task_id, status: 'success', outcome }, mira)
    expect(ended.waits_for).toMatchObject([{ kind: 'scope' }])
    const correction = { task_id, correction: 'Not mine.', not_mine: ['src/list.ts'] }
    expect((await project.call('complete_task', correction, mira)).waits_for).toEqual([])
    expect((await project.call('inbox')).items).toEqual([])
  })

  test('needs a person when the last of them denies it at its completion', async () => {
    const { first, second, complete, files, call } = await sharedFile()
    await complete(first, mira, 'Added the form.', { not_mine: ['src/list.ts'] })
    await complete(second, noor, 'Done.', { not_mine: ['src/list.ts'] })
    expect(await files(second)).toHaveLength(1)
    expect((await call('inbox')).items).toMatchObject([{ kind: 'scope', paths: ['src/list.ts'] }])
  })

  test('is not denied once it left the task', async () => {
    const { first, second, complete, correct } = await sharedFile()
    await complete(first, mira, 'Added the form.')
    await complete(second, noor, 'Created src/list.ts.')
    expect(await correct(first, mira)).toMatchObject({
      files_changed: { added: [] },
      files_taken_off: [],
      note: 'Not among the files of this attempt: src/list.ts. Nothing is to be taken off.',
    })
  })

  test('is moved by its own agent or a person only', async () => {
    const { first, second, complete, files, call, refused, correct } = await sharedFile()
    await complete(first, mira, 'Added the form.')
    await complete(second, noor, 'Done.')
    const input = { task_id: first, correction: 'Not theirs.', not_mine: ['src/list.ts'] }
    expect(await refused('complete_task', input, noor)).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'attempt_of_other_agent',
    })
    expect(await files(first)).toHaveLength(1)
    await correct(first, { actor: person })
    expect(await files(first)).toEqual([])
    expect((await call('changes', { id: second })).changes).toHaveLength(1)
  })
})

test('what no one else can have changed is not denied away', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Alone' })
  project.write('src/a.ts', 'export {}\n')
  const outcome = { summary: 'Done.', not_mine: ['src/a.ts'] }
  const answer = await project.call('complete_task', { task_id, status: 'success', outcome })
  expect(answer.files_changed.added).toEqual(['src/a.ts'])
  expect(answer.verification.warnings).toContainEqual(
    expect.stringMatching(/in spite of not_mine.*: src\/a\.ts/),
  )
  const correction = { task_id, correction: 'Not mine.', not_mine: ['src/a.ts'] }
  expect(await project.call('complete_task', correction)).toMatchObject({
    files_taken_off: [],
    note: expect.stringContaining('Not taken off: src/a.ts.'),
  })
  expect((await project.call('changes', { id: task_id })).changes).toHaveLength(1)
})
