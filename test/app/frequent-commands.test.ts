import { expect, test } from 'vitest'
import { frequentCommands } from '../../src/app/command-line.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'

test.each(Object.entries(frequentCommands))('%s is the only command of its word', async (word, load) => {
  const commands = catalog.flatMap(({ command, aliases = [], screen }) =>
    screen ? [] : [command, ...aliases],
  )
  expect(commands.filter((command) => command.split(/[ :]/)[0] === word)).toEqual([word])
  expect(catalog).toContain(await load())
})
