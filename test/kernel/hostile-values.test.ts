import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { Failure } from '../../src/kernel/failure.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { amount } from '../support/amount.ts'
import { openProject, person } from '../support/project.ts'

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
}

/** A value of a shape, with one text in the place of each text. */
function filled(schema: Schema, text: string, field: string | null): unknown {
  const { type, anyOf, oneOf, properties = {}, required = [], items } = schema
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const [choice] = anyOf ?? oneOf ?? []
  if (choice) return filled(choice, text, null)
  if (type === 'string') return text
  if (type === 'array') return items ? [filled(items, text, null)] : []
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name) || name === field)
      .map(([name, one]) => [name, filled(one, text, null)]),
  )
}

const texts = ['a\0b', '../../x', 'a\nb', '--exec=x', 'a\u001b[31mb', '\ud800', '-']

// Each round gives each field another of the texts.
test.each(texts.slice(0, amount({ test: 1, soak: 7 })).map((_, round) => round + 1))(
  'a hostile text in any field of any operation is a refusal or an answer (round %d)',
  async (round) => {
    const project = await openProject()
    // From a folder in the project, so that no file is written outside.
    project.write('a/b/c.ts', 'x\n')
    const from = vi.spyOn(process, 'cwd').mockReturnValue(join(project.folder, 'a/b'))
    onTestFinished(() => from.mockRestore())
    await project.call('start_mission', { name: 'M', objective: 'It works' })
    const unexpected: string[] = []
    let asked = round
    for (const { name, input } of catalog) {
      const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema
      for (const field of [null, ...Object.keys(schema.properties ?? {})]) {
        asked += 1
        // In `npm test` of every fourth field.
        if (field !== null && asked % amount({ test: 4, soak: 1 }) !== 0) continue
        const text = texts[asked % texts.length] ?? ''
        const value = filled(schema, text, field)
        await project.call(name as never, value as never, { actor: person }).catch((error: unknown) => {
          if (error instanceof Failure && error.code !== 'INTERNAL') return
          unexpected.push(`${name}.${field} ${JSON.stringify(text)}: ${String(error)}`)
        })
      }
    }
    expect(unexpected).toEqual([])
  },
)
