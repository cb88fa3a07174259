import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { DocumentTask } from '../../src/plan/domain/document.ts'
import { aDocument, aDocumentTask } from '../support/plan-documents.ts'
import { openProject, person } from '../support/project.ts'

test('refuses a plan that a remote machine sends without having checked it', async () => {
  const project = await openProject({ isOnMachine: true })
  project.write('plan.json', '{}')
  const load = vi.spyOn(project.context.planFiles, 'load')
  const importOf = async (...tasks: readonly DocumentTask[]) => {
    load.mockResolvedValueOnce({
      kind: 'plan',
      format: 'json',
      document: aDocument(tasks),
      notices: [],
    })
    return await project.refused(
      'plan_import',
      { file: join(project.folder, 'plan.json') },
      { actor: person },
    )
  }
  const invalid = { code: 'INVALID_INPUT', reason: 'plan_invalid' }
  const circle = [aDocumentTask('a', { dependsOn: ['b'] }), aDocumentTask('b', { dependsOn: ['a'] })]
  expect(await importOf(...circle)).toMatchObject(invalid)
  expect(await importOf(aDocumentTask('a', { dependsOn: ['gone'] }))).toMatchObject(invalid)
  expect(await importOf(aDocumentTask('a', { title: 'x'.repeat(2_001) }))).toMatchObject(invalid)
  expect(await project.call('taskman_task_list', {})).toMatchObject({ total: 0 })
})
