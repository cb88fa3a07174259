import { expect, test } from 'vitest'
import { type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import { workTreeNames } from './files.ts'

function namesOf(...trees: readonly (readonly [top: string, id?: string, name?: string])[]) {
  const places = trees.map(
    ([top, machineId, machineName = machineId]): SnapshotLocation => ({
      engine: 'git',
      directory: '/snapshots',
      top,
      prefix: '',
      id: 'c0ffee',
      ...(machineId !== undefined && { machineId, machineName: machineName ?? machineId }),
    }),
  )
  const names = workTreeNames(places)
  return places.map((place) => names.get(treeOf(place)))
}

test('work trees of one machine are called by their folders, as far as those differ', () => {
  expect(namesOf(['/home/ana/shop'], ['/home/ana/shop-fix'])).toEqual(['shop', 'shop-fix'])
  expect(namesOf(['/a/one/shop', 'e-1'], ['/b/one/shop', 'e-1'])).toEqual(['a/one/shop', 'b/one/shop'])
})

test('those of several machines have the name of the machine, and what tells equal ones apart', () => {
  expect(namesOf(['/srv/shop'], ['/srv/shop', 'e-1', 'ana-laptop'])).toEqual([
    'shop on the server',
    'shop on ana-laptop',
  ])
  expect(namesOf(['/l1/shop', 'e-1', 'vm'], ['/l2/shop', 'e-2', 'vm'])).toEqual([
    'l1/shop on vm',
    'l2/shop on vm',
  ])
  expect(namesOf(['/w/shop', 'e-1', 'vm'], ['/w/shop', 'e-2', 'vm'])).toEqual([
    'shop on vm (1)',
    'shop on vm (2)',
  ])
})
