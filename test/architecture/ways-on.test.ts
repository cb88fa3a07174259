import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { catalog } from '../../src/operations/catalog.ts'
import { inputSchema } from '../../src/operations/input/json-schema.ts'
import { inCommands } from '../../src/operations/way-on.ts'

// What a refusal tells its reader to call: `start_task { planned_task_id: "…" }`, in any text of the product.
const call = /\b([a-z]+(?:_[a-z]+)+) \{ ([a-z_]+(?:: [^{}]*)?(?:, [a-z_]+(?:: [^{}]*)?)*) \}/g

const calls = globSync('src/{domain,operations}/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/\$\{[^{}]*\}/g, '…')
    return [...text.matchAll(call)].map(([said, name, fields]) => ({
      file,
      said,
      name,
      fields: namesIn(fields),
    }))
  })

function namesIn(fields = ''): readonly string[] {
  return fields.split(/, (?=[a-z_]+(?::|$|,))/).map((field) => field.split(':')[0] ?? '')
}

test('there are ways on to look at', () => {
  expect(calls.length).toBeGreaterThan(30)
})

test.each(calls)('$file names a call that there is: $said', ({ name, fields }) => {
  const operation = catalog.find((one) => one.name === name)
  expect(operation, `no operation is called ${name}`).toBeDefined()
  if (operation === undefined) return
  expect(Object.keys(inputSchema(operation).properties ?? {})).toEqual(expect.arrayContaining([...fields]))
})

test.each(calls)('$said can be told a person', ({ said }) => {
  expect(inCommands(said, catalog)).toMatch(/^waymark [a-z]/)
})
