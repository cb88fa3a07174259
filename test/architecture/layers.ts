export interface Layer {
  /** The layers that it may import, beside itself. */
  readonly layers: readonly string[]
  readonly packages: readonly string[]
  readonly node: boolean
  /** Only the composition root in `src/app` may import it. */
  readonly isAdapter?: true
}

/** Which layer may import which. Each feature has the same layers; `layerOf` says where they lie. */
export const layers: Readonly<Record<string, Layer>> = {
  domain: {
    layers: [],
    packages: ['picomatch', 're2js', '@cfworker/json-schema', 'fastest-levenshtein', 'smol-toml'],
    node: false,
  },
  ports: { layers: ['domain'], packages: [], node: false },
  files: { layers: ['domain'], packages: [], node: true },
  operations: { layers: ['domain', 'ports'], packages: ['zod'], node: false },
  store: {
    layers: ['domain', 'ports', 'files'],
    packages: ['kysely', 'better-sqlite3', 'pg', 'canonicalize'],
    node: true,
    isAdapter: true,
  },
  git: adapter('diff', 'ignore', 'picomatch'),
  'process-files': adapter('yaml', 'zod'),
  import: adapter('better-sqlite3', 'yaml', 'zod'),
  evidence: adapter('diff'),
  senders: adapter(),
  commands: adapter(),
  capture: adapter('zod'),
  setup: adapter('diff', 'jsonc-parser', 'smol-toml'),
  machine: {
    layers: ['operations', 'domain', 'ports', 'files'],
    packages: ['zod', 'better-sqlite3'],
    node: true,
    isAdapter: true,
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

function adapter(...packages: readonly string[]): Layer {
  return { layers: ['domain', 'ports', 'files'], packages, node: true, isAdapter: true }
}

/** Folders inside a feature that are named after their layer. */
const named = [
  'domain',
  'operations',
  'ports',
  'files',
  ...Object.keys(layers).filter((name) => layers[name]?.isAdapter),
]
const namedOtherwise: Readonly<Record<string, string>> = {
  tables: 'store',
  log: 'store',
  cli: 'surfaces',
  hooks: 'capture',
}

/** The layer of a file: the folder inside its feature says it, else the top folder. */
export function layerOf(path: string): string {
  const [src, feature = '', inside = ''] = path.split('/')
  if (src !== 'src') return ''
  if (feature === 'app' || feature === 'surfaces') return feature
  const folder = feature === 'clients' ? clientLayer(path) : inside
  if (feature === 'git' || feature === 'store') return folder === 'ports' ? folder : feature
  const layer = namedOtherwise[folder] ?? folder
  if (named.includes(layer) || layer === 'surfaces') return layer
  return feature === 'kernel' && path.split('/').length === 3 ? 'domain' : ''
}

/** `clients/codex/hooks.ts` is data of `clients/hooks`. */
function clientLayer(path: string): string {
  const [, , inside = '', name = ''] = path.split('/')
  return /^(hooks|setup)\.ts$/.test(name) ? name.slice(0, -'.ts'.length) : inside
}
