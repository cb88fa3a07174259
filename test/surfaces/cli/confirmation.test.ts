import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { askYesOrNo } from '../../../src/app/remote/ask-person.ts'
import { hasPty, openScreen } from '../../app/screen.ts'
import { openCommandLine } from './command-line.ts'

test.skipIf(!hasPty)('a command that writes files asks once at a terminal, and only y writes', async () => {
  const project = openCommandLine()
  const { task_id: id } = project.json('task', 'start', 'Raise the number')
  project.write('src/app.ts', 'export const app = 2\n')
  project.json('task', 'complete', id, '--status', 'success', '--outcome.summary', 'Raised src/app.ts.')
  const content = () => readFileSync(join(project.folder, 'src/app.ts'), 'utf8')
  for (const answer of ['', 'y']) {
    const screen = openScreen(project, ['undo', id], { columns: 120, rows: 60 })
    const shown = await screen.shows('[y/N]')
    expect(shown).toContain('-export const app = 2')
    expect(content()).toBe('export const app = 2\n')
    screen.type(`${answer}\r`)
    expect(await screen.ended).toBe(0)
    if (answer !== 'y') await screen.shows('Nothing was written.')
    expect(content()).toBe(`export const app = ${answer === 'y' ? 1 : 2}\n`)
  }
})

test.each([
  ['', false],
  ['n', false],
  ['maybe', false],
  ['yes, but', false],
  ['y', true],
  [' YES ', true],
])('the answer "%s" is a yes: %s', async (answer, isYes) => {
  const input = new PassThrough()
  for (const [name, stream] of Object.entries({ stdin: input, stderr: new PassThrough() })) {
    const own = Object.getOwnPropertyDescriptor(process, name)
    Object.defineProperty(process, name, { value: stream, configurable: true })
    onTestFinished(() => void (own && Object.defineProperty(process, name, own)))
  }
  const answered = askYesOrNo('Write it?')
  input.write(`${answer}\n`)
  expect(await answered).toBe(isYes)
})
