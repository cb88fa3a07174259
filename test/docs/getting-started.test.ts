import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandLineProject, openCommandLine } from '../surfaces/cli/command-line.ts'
import { waymarkCommands, wordsOf } from './command-lines.ts'

const guide = readFileSync(
  join(import.meta.dirname, '..', '..', 'docs', 'guide', 'getting-started.md'),
  'utf8',
)

/** The commands of a section, as they are typed. */
function commandsOf(heading: string): readonly (readonly string[])[] {
  const section = guide.slice(guide.indexOf(`## ${heading}\n`)).split('\n## ')[0] ?? ''
  return section.split('\n').flatMap(waymarkCommands).map(wordsOf)
}

function run(project: CommandLineProject, words: readonly string[]): void {
  const { code, error } = project.run(...words)
  expect({ words, code, error }).toMatchObject({ code: 0 })
}

/** A project with a price and a test of it. */
function openShop(): CommandLineProject {
  const project = openCommandLine()
  project.write('package.json', '{ "type": "module", "scripts": { "test": "node --test" } }\n')
  project.write(
    'price.js',
    'export const total = (prices) => prices.reduce((sum, price) => sum + price, 0)\n',
  )
  project.write('price.test.js', "import test from 'node:test'\ntest('holds', () => {})\n")
  project.git('add', '.')
  project.git('commit', '-m', 'Shop')
  return project
}

/** A printed text without what differs each time: ids, hashes, ages and the folder. */
function withoutChance(text: string, folder = '~/shop'): readonly string[] {
  return text
    .replaceAll(folder, '~/shop')
    .replaceAll(/\b([a-z]+)-[0-9a-z]{12}\b/g, '$1-…')
    .replaceAll(/--content [0-9a-f]{12}/g, '--content …')
    .replaceAll(/\d+ s ago/g, '… s ago')
    .trimEnd()
    .split('\n')
}

test('the inbox and the verdict of the page are as they are printed', () => {
  const project = openShop()
  const [inbox = [], show = []] = ['4. Give an agent a task', '5. Read the verdict'].map((heading) => {
    const block = /^```\n(\$ .*?)^```$/ms.exec(guide.slice(guide.indexOf(`## ${heading}\n`)))?.[1] ?? ''
    return withoutChance(block)
  })
  const [mission = []] = commandsOf('Without an agent')
  for (const words of [
    ...commandsOf('3. Require a test'),
    mission,
    ['task', 'start', 'Round the total', '--mission-id', 'Prices', '--agent-name', 'claude'],
  ])
    run(project, words)
  project.write('price.js', 'export const total = () => 0\n')
  const summary = 'Rounded total in price.js and updated price.test.js. All tests pass.'
  run(project, ['task', 'complete', 'Round the total', summary, '--status', 'success'])
  const printed = (line: string | undefined) =>
    withoutChance(project.run(...wordsOf(line?.replace('$ ', '') ?? '')).out, project.folder)
  expect(printed(inbox[0])).toEqual(inbox.slice(1))
  const [{ item_id: id, content }] = project.json('inbox').items
  run(project, ['approve', id, '--content', content])
  run(project, ['verify', 'Round the total'])
  const lines = printed(show[0])
  const shown = show.slice(2)
  const start = lines.indexOf(shown[0] ?? '')
  expect(lines.slice(start, start + shown.length)).toEqual(shown)
})

test('the steps of the page lead to a proven task', () => {
  const project = openShop()
  const [setting = []] = commandsOf('3. Require a test')
  const [mission = [], start = [], complete = [], show = []] = commandsOf('Without an agent')
  for (const words of [setting, mission, start]) run(project, words)
  appendFileSync(
    join(project.folder, 'price.js'),
    'export const discounted = (prices) => total(prices) / 2\n',
  )
  run(project, complete)
  const [{ item_id: id, content, task_id: task }] = project.json('inbox').items
  run(project, ['approve', id, '--content', content])
  run(project, ['verify', task])
  run(project, show)
  expect(project.json(...show).attempts).toMatchObject([{ verdict: { is: 'proven' } }])
})
