import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import { knownRoles } from '../../src/plan/domain/plan.ts'
import type { Answer } from '../support/project.ts'
import { notFound, person, wrongFields } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

describe('notes', () => {
  test('a note has a content, and may have a kind and a role', async () => {
    const { plan, call } = await openPlan()
    const id = await plan('Draw')
    const first = await call('taskman_task_note_add', { id, content: 'Half way' })
    expect(first).toEqual({
      id: expect.stringMatching(/^n-/),
      task_id: id,
      content: 'Half way',
      kind: null,
      role: null,
      author: 'test-agent',
      created_at: expect.any(String),
    })
    const more = { id, content: 'Stuck', kind: 'issue', role: 'developer' }
    const second = await call('taskman_task_note_add', more)
    expect((await call('show', { id })).notes).toEqual([second, first])
    expect(second).toMatchObject({ kind: 'issue', role: 'developer' })
    expect(await call('taskman_task_note_list', { id })).toEqual({
      notes: [second, first],
      total: 2,
      next_cursor: null,
    })
  })

  test('unknown tasks, kinds and roles are refused', async () => {
    const { plan, refused } = await openPlan()
    const id = await plan('Draw')
    const add = (input: object) => refused('taskman_task_note_add', { id, content: 'x', ...input })
    expect(await add({ id: 'xyz' })).toMatchObject(notFound('task'))
    expect(await add({ kind: 'joke' })).toMatchObject(wrongFields('kind'))
    expect(await add({ role: 'plumber' })).toMatchObject({ reason: 'role_unknown' })
    expect(await refused('taskman_task_note_list', { id: 'xyz' })).toMatchObject(notFound('task'))
  })

  test('pages show all once, newest first; an answer is bounded, a person’s command lists all', async () => {
    const { plan, call, printed } = await openPlan()
    const id = await plan('Draw')
    for (let number = 0; number < 45; number += 1) {
      await call('taskman_task_note_add', { id, content: `${number} ${'word '.repeat(100)}` })
    }
    const seen: number[] = []
    let cursor: string | null = null
    do {
      const page: Answer = await call('taskman_task_note_list', { id, ...(cursor && { cursor }) })
      seen.push(...page.notes.map(({ content }: Answer) => Number.parseInt(content, 10)))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(Array.from({ length: 45 }, (_, index) => 44 - index))
    const blocks = await printed('taskman_task_note_list', { id })
    expect(blocks).toHaveLength(2)
    expect(countTokens(blocks.join('\n'))).toBeLessThanOrEqual(2000)
    expect((await call('taskman_task_note_list', { id }, { actor: person })).notes).toHaveLength(45)
  })
})

describe('roles', () => {
  test('TM-057 TM-065 TM-068 taskman’s six and the eight that came later', async () => {
    const { call, edit, plan, titles } = await openPlan()
    expect(knownRoles).toHaveLength(14)
    const id = await plan('Edited')
    for (const role of knownRoles) {
      expect(await call('taskman_task_add', { title: role, phase: 'P1', role })).toMatchObject({ role })
      expect(await titles({ role })).toEqual([role])
      expect(await edit(id, { role })).toMatchObject({ role })
      await edit(id, { clear: ['role'] })
    }
  })

  test('a person declares others for a project; an agent does not', async () => {
    const { call, plan, refused } = await openPlan()
    const unknown = await refused('taskman_task_add', { title: 'x', phase: 'P1', role: 'data-engineer' })
    expect(unknown).toMatchObject({ code: 'INVALID_INPUT', reason: 'role_unknown' })
    expect(await refused('role_add', { role: 'data-engineer' })).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'person_needed',
    })
    const declare = () => call('role_add', { role: 'data-engineer' }, { actor: person })
    expect((await declare()).roles).toEqual([...knownRoles, 'data-engineer'])
    expect(await declare()).toEqual(await declare())
    await plan('Load it', { role: 'data-engineer' })
    expect((await call('taskman_task_next', { role: 'data-engineer' })).task).toMatchObject({
      role: 'data-engineer',
    })
    expect(await refused('role_add', { role: 'Data Engineer' }, { actor: person })).toMatchObject(
      wrongFields('role'),
    )
  })
})
