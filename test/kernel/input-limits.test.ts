import { expect, test } from 'vitest'
import { z } from 'zod'
import { catalog } from '../../src/kernel/operations/catalog.ts'

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly maxLength?: number
  readonly maxItems?: number
}

/** The texts and lists of an input that may be as long as anybody likes. */
function unlimited(schema: Schema, path: string): readonly string[] {
  const isOpen = schema.enum === undefined && schema.const === undefined
  return [
    ...(schema.type === 'string' && isOpen && schema.maxLength === undefined ? [`${path}: text`] : []),
    ...(schema.type === 'array' && schema.maxItems === undefined ? [`${path}: list`] : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => unlimited(one, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, one]) => unlimited(one, `${path}.${key}`)),
    ...(schema.items ? unlimited(schema.items, `${path}[]`) : []),
  ]
}

test('each text of an input has a maximum length, and each list a maximum count', () => {
  const found = catalog.flatMap(({ name, input }) =>
    unlimited(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema, name),
  )
  expect(found).toEqual([])
})
