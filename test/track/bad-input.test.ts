import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../src/kernel/failure.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { inputSchema } from '../../src/kernel/operations/input/json-schema.ts'
import { amount } from '../support/amount.ts'
import { openProject, person } from '../support/project.ts'
import { shared } from '../support/shared.ts'

const names = catalog.map(({ name }) => name)
const huge = 'x'.repeat(2_000_000)

/** Every field of every operation, with something in it that cannot be meant. */
const mistyped: readonly (readonly [string, string, unknown])[] = catalog.flatMap((operation) =>
  Object.entries(inputSchema(operation).properties ?? {}).flatMap(([field, { type }]) => {
    const wrong = type === 'string' ? [{ a: 1 }, [[]], true, huge] : [{ a: [huge] }, 'neither', Number.NaN]
    return wrong.map((value) => [operation.name, field, value] as const)
  }),
)

const anyProject = shared(() => openProject())

describe('every operation', () => {
  test('refuses an unknown field with its name, and stores nothing', async () => {
    const project = await openProject({ database: false })
    for (const name of names) {
      const { code, details } = await project.refused(name, { no_such_field: 1 }, { actor: person })
      const { fields } = details as { readonly fields: readonly string[] } // of this code
      expect([name, code, fields.includes('no_such_field')]).toEqual([name, 'INVALID_INPUT', true])
    }
    expect((await project.context.store.health()).exists).toBe(false)
  })

  test('refuses a mistyped or huge value in any field, in a bounded message, and stores nothing', async () => {
    const project = await openProject({ database: false })
    for (const [name, field, value] of mistyped) {
      const failure = await project
        .call(name, { [field]: value }, { actor: person })
        .catch((error: unknown) => error)
      expect(failure, `${name} ${field}`).toBeInstanceOf(Failure)
      expect(String(failure).length, `${name} ${field}`).toBeLessThan(3_000)
    }
    expect((await project.context.store.health()).exists).toBe(false)
  })

  test.each(names)('%s answers or fails with a sentence, whatever JSON it is sent', async (name) => {
    const project = await anyProject()
    const fields = Object.keys(
      inputSchema(catalog.find((candidate) => candidate.name === name) ?? neverNamed()).properties ?? {},
    )
    const input = fc.oneof(
      fc.json().map((text) => JSON.parse(text) as unknown),
      fc.dictionary(fc.constantFrom(...fields, '__proto__', 'constructor', 'x'), fc.jsonValue()),
    )
    await fc.assert(
      fc.asyncProperty(input, async (sent) => {
        const outcome = await project.call(name, sent as object).catch((error: unknown) => error)
        expect(outcome instanceof Failure || !(outcome instanceof Error)).toBe(true)
      }),
      { numRuns: amount({ test: 10, soak: 40 }) },
    )
  })
})

function neverNamed(): never {
  throw new Error('the names come from the catalog')
}

test('text of every kind comes back as it was said', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'a', goal: 'g' })
  const texts = [
    '“naïve” 漢字 🧭',
    "Robert'); drop table task;--",
    '<script>alert(1)</script>',
    'a\u0000b\u001b[31m',
    '\ud800 half',
  ]
  for (const message of texts) await project.call('log_milestone', { task_id, message })
  const { progress } = await project.call('show', { id: task_id })
  const said = progress.map(({ message }: { message: string }) => message).reverse()
  expect(said).toEqual(texts.map((text) => text.toWellFormed().replace('\0', '␀')))
  expect((await project.context.store.view(({ eventLog: log }) => log.verify())).brokenAt).toBeNull()
})

describe('an idempotency key', () => {
  const input = { name: 'a', objective: 'b' }

  test('with the same input answers what was answered', async () => {
    const project = await openProject()
    const key = { idempotencyKey: 'k-1' }
    const first = await project.call('start_mission', input, key)
    expect(await project.call('start_mission', { objective: 'b', name: 'a' }, key)).toEqual(first)
    expect((await project.call('list_missions')).total).toBe(1)
  })

  test('with other input, or of another operation, is refused', async () => {
    const project = await openProject()
    const key = { idempotencyKey: 'k-1' }
    await project.call('start_mission', input, key)
    await expect(project.call('start_mission', { ...input, name: 'c' }, key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
    await expect(project.call('start_workflow', { name: 'a' }, key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })

  test('of a refused call is free again', async () => {
    const project = await openProject()
    const key = { idempotencyKey: 'k-1' }
    const unknown = { task_id: 't-nowhere', message: 'm' }
    await expect(project.call('log_milestone', unknown, key)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { task_id } = await project.call('start_task', { name: 'a', goal: 'g' })
    await project.call('log_milestone', { task_id, message: 'm' }, key)
  })

  test('of a task makes one attempt, however often it is sent at once', async () => {
    const project = await openProject()
    const key = { idempotencyKey: 'k-1' }
    const answers = await Promise.all(
      [1, 2, 3].map(() => project.call('start_task', { name: 'a', goal: 'g' }, key)),
    )
    expect(new Set(answers.map(({ attempt_id }) => attempt_id)).size).toBe(1)
  })
})
