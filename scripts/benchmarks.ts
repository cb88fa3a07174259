// Runs the benchmarks that have limits and writes docs/reference/benchmarks.md from what they print. Needs a build.
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, type } from 'node:os'
import { join } from 'node:path'

interface Benchmark {
  readonly title: string
  readonly file: string
  readonly about: string
}

const root = join(import.meta.dirname, '..')

const benchmarks: readonly Benchmark[] = [
  {
    title: 'Over standard input and output',
    file: 'bench/stdio.ts',
    about:
      'Medians of one run, beside the least that a JSON-RPC server in Node can do: a loop that answers each line with an empty result.',
  },
  {
    title: 'The witness',
    file: 'bench/witness.ts',
    about:
      'Whole calls over standard input and output, medians of one run, beside one `git status` of the same tree.',
  },
  {
    title: 'The dashboard',
    file: 'bench/dashboard.ts',
    about:
      'In a real browser: from an agent’s answer to the painted card, and the first paint with an empty cache.',
  },
]

// A certificate that Node reads at its start would count as start-up.
const { NODE_EXTRA_CA_CERTS: _certificates, ...environment } = process.env

function section({ title, file, about }: Benchmark): string {
  const table = execFileSync(process.execPath, [file], {
    cwd: root,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return `## ${title}\n\n${about}\n\n${table.trim()}\n`
}

const [processor] = cpus()
const load = loadavg()[0] ?? 0
const sections = benchmarks.filter(({ file }) => existsSync(join(root, file))).map(section)
const page = `# Benchmarks

Written by \`npm run bench\`, which runs ${benchmarks.map(({ file }) => `\`${file}\``).join(', ')}. Where a figure has a limit,
the last column says it, and whether the figure is over it.

Measured with Node ${process.versions.node} on ${type()} ${release()}, ${availableParallelism()} cores, ${processor?.model ?? 'an unknown processor'};
the load of the machine at the start was ${load.toFixed(1)}.

${sections.join('\n')}`
writeFileSync(join(root, 'docs', 'reference', 'benchmarks.md'), page)
console.log('docs/reference/benchmarks.md')
