import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard.mjs'

const dist = join(import.meta.dirname, '..', '..', 'dist', 'web')

test('the first view loads at most 60 kB', () => {
  expect(buildDashboard()).toBe(true)
  const page = readFileSync(join(dist, 'index.html'), 'utf8')
  const loaded = [...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path]) => path ?? '')
  expect(loaded.some((path) => path.endsWith('.js'))).toBe(true)
  const sizes = ['index.html', ...loaded].map((path) => sizeOf(join(dist, path)))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000)
})

/** As it is sent. */
function sizeOf(file: string): number {
  return existsSync(`${file}.gz`) ? statSync(`${file}.gz`).size : gzipSync(readFileSync(file)).length
}
