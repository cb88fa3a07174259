import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { inputSchema } from '../../src/kernel/operations/input/json-schema.ts'

// The next call of a refusal, in the source of the product: `callTo('start_task', { planned_task_id: id })`.
const call = /\bcallTo\(\s*'([a-z_]+)'(?:,\s*\{([^{}]*)\})?/g

const calls = globSync('src/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(call)].map(([, name, fields = '']) => ({
      file,
      name,
      fields: [...fields.matchAll(/(?:^|,)\s*([a-z_]+)\s*(?=[:,]|$)/g)].map(([, field]) => field),
    })),
  )

test('the source names next calls', () => {
  expect(calls.length).toBeGreaterThan(50)
})

test.each(calls)('$file names an existing operation and fields of it: $name', ({ name, fields }) => {
  const operation = catalog.find((one) => one.name === name)
  expect(operation, `no operation is called ${name}`).toBeDefined()
  if (operation === undefined) return
  expect(Object.keys(inputSchema(operation).properties ?? {})).toEqual(expect.arrayContaining(fields))
})
