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

test('the steps of the page lead to a proven task', () => {
  const project = openCommandLine()
  project.write('package.json', '{ "type": "module", "scripts": { "test": "node --test" } }\n')
  project.write(
    'price.js',
    'export const total = (prices) => prices.reduce((sum, price) => sum + price, 0)\n',
  )
  project.write('price.test.js', "import test from 'node:test'\ntest('holds', () => {})\n")
  project.git('add', '.')
  project.git('commit', '-m', 'Shop')
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
