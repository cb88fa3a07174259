import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
import { openCase } from './driver.ts'

/** The hour that a lead and three workers share a work tree, each in a client whose hooks tell of its edits. */
test('with hooks, every edit of the shared hour that an edit tool made is certain, and lines are counted once', async () => {
  const stage = await openCase()
  const { call, folder, git } = stage.project
  for (const [path, content] of Object.entries({
    'shared.js': 'export const version = 1\n',
    'src/parser/index.js': 'export const parse = Number\n',
    'src/printer/index.js': 'export const print = String\n',
    'src/printer/format.js': 'export const width = 80\n',
    'src/config/index.js': 'export const port = 1\n',
  }))
    stage.write(path, content)
  git('add', '-A')
  git('commit', '-qm', 'files')
  const work = async (name: string, area: string) => {
    const player = stage.session(name)
    player.start()
    player.prompt()
    const started = await call('start_task', { name, goal: 'g', areas: [area], agent_name: name })
    player.own('mcp__waymark__start_task', started.attempt_id)
    await stage.drain()
    const append = (path: string, line: string) =>
      player.edit(path, `${readFileSync(join(folder, path), 'utf8')}${line}\n`)
    const complete = (): Promise<Answer> =>
      call('complete_task', {
        task_id: started.task_id,
        status: 'success',
        outcome: { summary: 'Done.' },
      })
    return { player, append, complete }
  }
  const ada = await work('ada', 'src/parser/')
  const bob = await work('bob', 'src/printer/')
  const cy = await work('cy', 'src/config/')
  ada.append('src/parser/index.js', 'export const digits = 10')
  ada.append('src/printer/format.js', 'export const pad = 2') // in bob's area
  bob.append('src/printer/index.js', 'export const loop = () => loop()')
  cy.append('src/config/index.js', 'export const host = "?"')
  ada.append('shared.js', 'export const byAda = 1')
  bob.append('shared.js', 'export const byBob = 1')
  await stage.drain()
  const certainty = ({ details }: Answer) =>
    Object.fromEntries(details.map(({ path, attribution }: Answer) => [path, attribution]))

  const first = await ada.complete()
  expect(certainty(first)).toEqual({
    'shared.js': 'certain',
    'src/parser/index.js': 'certain',
    'src/printer/format.js': 'certain',
  })
  expect(first.contested_files ?? []).toEqual([])
  // What she did in another's area is hers, without a word of hers.
  expect(first.verification).toMatchObject({ scope_match: false })
  expect(first.verification.unexpected_files).toContain('src/printer/format.js')
  const second = await bob.complete()
  expect(certainty(second)).toEqual({ 'shared.js': 'certain', 'src/printer/index.js': 'certain' })
  const third = await cy.complete()
  expect(certainty(third)).toEqual({ 'src/config/index.js': 'certain' })
  expect(third).toMatchObject({ measurement: 'exact', verification: { scope_match: true } })
  for (const { player } of [ada, bob, cy]) player.stop()
  await stage.drain()
  const [turn] = await stage.turns('ada')
  expect(turn.changes.map(({ path, attribution }: Answer) => [path, attribution])).toEqual([
    ['shared.js', 'certain'],
    ['src/parser/index.js', 'certain'],
    ['src/printer/format.js', 'certain'],
  ])
})
