import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { catalog } from '../../src/kernel/operations/catalog.ts'

const skills = join(import.meta.dirname, '..', '..', 'plugin', 'skills')

interface Call {
  readonly tool: string
  /** Names of its fields, those of an object in it under the name of the object. */
  readonly fields: readonly string[]
}

/** What stands in backquotes as `tool` or `tool { field, field: value }`. */
function callsIn(text: string): readonly Call[] {
  return [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)(?:\s*\{([^`]*)\})?`/g)].map(([, tool = '', inner = '']) => {
    // Only the outermost names: what stands in brackets is a value.
    const flat = inner.replace(/\{[^{}]*\}|\[[^\]]*\]|"[^"]*"/g, 'value')
    const fields = flat.split(',').map((part) => part.split(':')[0]?.trim() ?? '')
    return { tool, fields: fields.filter(Boolean) }
  })
}

const texts = readdirSync(skills).map((name) => readFileSync(join(skills, name, 'SKILL.md'), 'utf8'))
const calls = texts.flatMap(callsIn)
const fieldsOfTools = new Map(
  catalog.flatMap((operation) => {
    if (operation.tool === undefined) return []
    const { properties = {}, required = [] } = z.toJSONSchema(operation.input, {
      io: 'input',
      unrepresentable: 'any',
    })
    return [[operation.tool, { known: Object.keys(properties), required }] as const]
  }),
)
const named = calls.filter(({ tool, fields }) => fieldsOfTools.has(tool) || fields.length > 0)

test('the skill is short: every agent pays for each of its words', () => {
  for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1500)
})

test('the skill tells of calls', () => {
  expect(named.filter(({ fields }) => fields.length > 0).length).toBeGreaterThan(5)
})

test('every call that the skill tells of is a tool, with fields that the tool takes', () => {
  const wrong = named.flatMap(({ tool, fields }) => {
    const contract = fieldsOfTools.get(tool)
    if (!contract) return [`${tool} is no tool`]
    return fields
      .filter((field) => !contract.known.includes(field))
      .map((field) => `${tool} takes no ${field}`)
  })
  expect(wrong).toEqual([])
})

test('a call that the skill writes out has every field that the tool needs', () => {
  const lacking = named.flatMap(({ tool, fields }) => {
    const required = fieldsOfTools.get(tool)?.required ?? []
    if (fields.length === 0) return []
    return required.filter((field) => !fields.includes(field)).map((field) => `${tool} needs ${field}`)
  })
  expect(lacking).toEqual([])
})
