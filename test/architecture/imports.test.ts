import { expect, test } from 'vitest'
import { type Layer, layerOf, layers } from './layers.ts'
import { filesBelow, type Import, productFiles } from './source-files.ts'

test('a layer imports only what the table of the architecture allows', () => {
  const wrong = productFiles().flatMap(({ path, imports }) => {
    const layer = layerOf(path)
    const allowed = layers[layer]
    if (!allowed) return layer === 'app' ? [] : [`${path} is in no layer`]
    return imports
      .filter(({ target }) => !isAllowed(target, layer, allowed))
      .map(({ target }) => `${path} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

test('surfaces import types of ports, never code', () => {
  const wrong = productFiles()
    .filter(({ path }) => layerOf(path) === 'surfaces')
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ target, typeOnly }) => layerOf(target) === 'ports' && !typeOnly)
        .map(({ target }) => `${path} imports ${target}`),
    )
  expect(wrong).toEqual([])
})

test('one surface does not import another', () => {
  const surfaceOf = (path: string) =>
    /^src\/(?:surfaces\/)?(?:[^/]+\/(?=cli\/))?(mcp|cli|http|hook)\//.exec(path)?.[1]
  const wrong = productFiles().flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => surfaceOf(path) && surfaceOf(target) && surfaceOf(path) !== surfaceOf(target))
      .map(({ target }) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('only the composition root names an adapter', () => {
  const adapters = Object.keys(layers).filter((layer) => layers[layer]?.isAdapter)
  const wrong = productFiles()
    .filter(({ path }) => !['app', ...adapters].includes(layerOf(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => adapters.includes(layerOf(target)))
        .map(({ target }) => `${path}: ${target}`),
    )
  expect(wrong).toEqual([])
})

test('no import leads back to where it began', () => {
  const files = filesBelow('src', '.ts')
  const machines = new Map(files.map(({ path, imports }) => [path, runningImports(imports)]))
  expect([...machines.values()].flat().length).toBeGreaterThan(200)
  expect(
    [...machines.keys()].map((path) => cycleFrom(path, machines)).filter((cycle) => cycle !== null),
  ).toEqual([])
})

test('what starts for each hook loads no schemas, and no module of Node that makes much at once', () => {
  const files = new Map(filesBelow('src', '.ts').map((file) => [file.path, file]))
  const atOnce = new Set(['src/app/hook.ts', 'src/app/remote/hook-remote.ts'])
  for (const path of atOnce) {
    for (const { target, typeOnly, isLate } of files.get(path)?.imports ?? []) {
      if (!typeOnly && !isLate) atOnce.add(target)
    }
  }
  expect(atOnce).toContain('src/remote/machine/server-client.ts')
  expect([...atOnce].filter((path) => /^(zod|node:(https?|zlib|util|crypto))$/.test(path))).toEqual([])
})

test('the reader of imports sees every form', () => {
  const file = filesBelow('test/architecture', 'imports.test.ts')[0]
  expect(file?.imports.map(({ target }) => target)).toEqual([
    'vitest',
    'test/architecture/layers.ts',
    'test/architecture/source-files.ts',
  ])
})

function isAllowed(target: string, layer: string, allowed: Layer): boolean {
  if (target.startsWith('node:')) return allowed.node
  if (!target.startsWith('src/')) return allowed.packages.includes(target)
  return layerOf(target) === layer || allowed.layers.includes(layerOf(target))
}

/** Types are gone when the program runs, so they make no cycle of it. */
function runningImports(imports: readonly Import[]): readonly string[] {
  return imports
    .filter(({ target, typeOnly }) => target.startsWith('src/') && !typeOnly)
    .map(({ target }) => target)
}

function cycleFrom(start: string, machines: ReadonlyMap<string, readonly string[]>): string | null {
  const seen = new Set<string>()
  const walk = (path: string, way: readonly string[]): string | null => {
    for (const next of machines.get(path) ?? []) {
      if (next === start) return [...way, next].join(' -> ')
      if (seen.has(next)) continue
      seen.add(next)
      const found = walk(next, [...way, next])
      if (found !== null) return found
    }
    return null
  }
  return walk(start, [start])
}
