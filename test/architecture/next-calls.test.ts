import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'rolldown/utils'
import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { inputSchema, type JsonSchema } from '../../src/kernel/operations/input/json-schema.ts'

// The next call of a refusal, in the source of the product: `callTo('start_task', { planned_task_id: id })`.
const call = /\bcallTo\(\s*'([a-z_]+)'(?:,\s*\{([^{}]*)\})?/g

const calls = globSync('src/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(call)].map(([, name, fields = '']) => ({
      file,
      name,
      fields: [...fields.matchAll(/(?:^|,)\s*([a-z_]+)\s*(?=[:,]|$)/g)].map(([, field]) => field),
      valueless: [...fields.matchAll(/([a-z_]+): undefined/g)].map(([, field = '']) => field),
    })),
  )

test('the source names next calls', () => {
  expect(calls.length).toBeGreaterThan(50)
})

test.each(calls)(
  '$file names an existing operation and fields of it: $name',
  ({ name, fields, valueless }) => {
    const operation = catalog.find((one) => one.name === name)
    expect(operation, `no operation is called ${name}`).toBeDefined()
    if (operation === undefined) return
    const { properties = {} } = inputSchema(operation)
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(fields))
    // Without a value only the list of tools says how a field is given.
    expect(valueless.filter((field) => properties[field]?.unlisted === true)).toEqual([])
  },
)

interface Field {
  readonly name: string
  readonly isListed: boolean
}

/** All fields of an input, at every depth. */
function fieldsOf({ properties = {}, items, unlisted }: JsonSchema, isListed = true): readonly Field[] {
  const isSeen = isListed && unlisted !== true
  const own = Object.entries(properties).flatMap(([name, field]) => [
    { name, isListed: isSeen && field.unlisted !== true },
    ...fieldsOf(field, isSeen),
  ])
  return [...own, ...(items ? fieldsOf(items, isSeen) : [])]
}

const inputFields = catalog.flatMap((operation) =>
  operation.tool === undefined ? [] : fieldsOf(inputSchema(operation), operation.unlisted !== true),
)
const listed = new Set(inputFields.flatMap(({ name, isListed }) => (isListed ? [name] : [])))
const unlisted = [...new Set(inputFields.map(({ name }) => name))].filter((name) => !listed.has(name))

/** The literals of a file that have several words. */
function textsIn(file: string): readonly string[] {
  const texts: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const part of node) visit(part)
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return
    const { type, value, quasis } = node as Record<string, unknown>
    if (type === 'Literal' && typeof value === 'string') texts.push(value)
    if (type === 'TemplateLiteral')
      texts.push((quasis as { value: { cooked: string } }[]).map((part) => part.value.cooked).join('…'))
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync(file, readFileSync(file, 'utf8')).program)
  return texts.filter((text) => text.includes(' '))
}

test('a field that no list of tools shows is named with an example of its value', () => {
  expect(unlisted).toEqual(expect.arrayContaining(['no_change_reason', 'criteria', 'weakened', 'inherit']))
  // SQL, and the words of process files.
  const others = ['src/**/{tables,schema,lint}/**', 'src/store/**']
  const named = unlisted.map((name) => (name.includes('_') ? `\\b${name}\\b` : `"${name}"`)).join('|')
  const bare = new RegExp(`(?:${named})(?!"?: ?["[{t…])`)
  const found = globSync('src/**/*.ts', { exclude: others })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => textsIn(file).flatMap((text) => (bare.test(text) ? [`${file}: ${text}`] : [])))
  expect(found).toEqual([])
})
