import { expect, test } from 'vitest'
import { filesBelow, type Import, productFiles } from './source-files.ts'

interface Layer {
  readonly layers: readonly string[]
  readonly packages: readonly string[]
  readonly node: boolean
}

/** Who may import whom. */
const table: Readonly<Record<string, Layer>> = {
  domain: {
    layers: [],
    packages: ['picomatch', 're2js', '@cfworker/json-schema', 'fastest-levenshtein', 'smol-toml'],
    node: false,
  },
  ports: { layers: ['domain'], packages: [], node: false },
  files: { layers: ['domain'], packages: [], node: true },
  operations: { layers: ['domain', 'ports'], packages: ['zod'], node: false },
  storage: {
    layers: ['domain', 'ports', 'files'],
    packages: ['kysely', 'better-sqlite3', 'pg', 'canonicalize'],
    node: true,
  },
  git: { layers: ['domain', 'ports', 'files'], packages: ['diff', 'ignore', 'picomatch'], node: true },
  definitions: { layers: ['domain', 'ports', 'files'], packages: ['yaml', 'zod'], node: true },
  plans: { layers: ['domain', 'ports', 'files'], packages: ['better-sqlite3', 'yaml', 'zod'], node: true },
  evidence: { layers: ['domain', 'ports', 'files'], packages: ['diff'], node: true },
  told: { layers: ['domain', 'ports'], packages: [], node: true },
  commands: { layers: ['domain', 'ports', 'files'], packages: [], node: true },
  capture: { layers: ['domain', 'ports', 'files'], packages: ['zod'], node: true },
  setup: {
    layers: ['domain', 'ports', 'files'],
    packages: ['diff', 'jsonc-parser', 'smol-toml'],
    node: true,
  },
  edge: {
    layers: ['operations', 'domain', 'ports', 'files'],
    packages: ['zod', 'better-sqlite3'],
    node: true,
  },
  surfaces: {
    layers: ['operations', 'domain', 'ports', 'files'],
    packages: [
      '@modelcontextprotocol/server',
      'cli-table3',
      'hono',
      'ink',
      'react',
      '@hono/node-server',
      'prom-client',
      'ws',
      'zod',
      'openid-client',
    ],
    node: true,
  },
}

test('a layer imports only what the table of the architecture allows', () => {
  const wrong = productFiles().flatMap(({ path, imports }) => {
    const layer = layerOf(path)
    const allowed = table[layer]
    if (!allowed) return layer === 'main' ? [] : [`${path} is in no layer`]
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
  const surfaceOf = (path: string) => /^src\/surfaces\/([^/]+)/.exec(path)?.[1]
  const wrong = productFiles().flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => surfaceOf(path) && surfaceOf(target) && surfaceOf(path) !== surfaceOf(target))
      .map(({ target }) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('only the composition root names an adapter', () => {
  const adapters = [
    'storage',
    'git',
    'definitions',
    'plans',
    'evidence',
    'commands',
    'capture',
    'edge',
    'told',
    'setup',
  ]
  const wrong = productFiles()
    .filter(({ path }) => !['main', ...adapters].includes(layerOf(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => adapters.includes(layerOf(target)))
        .map(({ target }) => `${path}: ${target}`),
    )
  expect(wrong).toEqual([])
})

test('no import leads back to where it began', () => {
  const files = filesBelow('src', '.ts')
  const edges = new Map(files.map(({ path, imports }) => [path, runningImports(imports)]))
  expect([...edges.values()].flat().length).toBeGreaterThan(200)
  expect([...edges.keys()].map((path) => cycleFrom(path, edges)).filter((cycle) => cycle !== null)).toEqual(
    [],
  )
})

test('what starts for each hook loads no schemas, and no module of Node that makes much at once', () => {
  const files = new Map(filesBelow('src', '.ts').map((file) => [file.path, file]))
  const atOnce = new Set(['src/main/hook.ts', 'src/main/edge/hook-edge.ts'])
  for (const path of atOnce) {
    for (const { target, typeOnly, isLate } of files.get(path)?.imports ?? []) {
      if (!typeOnly && !isLate) atOnce.add(target)
    }
  }
  expect(atOnce).toContain('src/edge/server-client.ts')
  expect([...atOnce].filter((path) => /^(zod|node:(https?|zlib|util|crypto))$/.test(path))).toEqual([])
})

test('the reader of imports sees every form', () => {
  const file = filesBelow('test/architecture', 'imports.test.ts')[0]
  expect(file?.imports.map(({ target }) => target)).toEqual(['vitest', 'test/architecture/source-files.ts'])
})

function layerOf(path: string): string {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? ''
}

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

function cycleFrom(start: string, edges: ReadonlyMap<string, readonly string[]>): string | null {
  const seen = new Set<string>()
  const walk = (path: string, way: readonly string[]): string | null => {
    for (const next of edges.get(path) ?? []) {
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
