// Runs the benchmarks that have limits and writes docs/reference/benchmarks.md from what they print. Needs a build.
// With words only those are run, and the rest of the page stays: npm run bench -- team. Numbers are for the benchmark
// itself, such as the milliseconds of a stretch and the rounds: npm run bench -- team 2000 3
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, type } from 'node:os'
import { basename, join } from 'node:path'

interface Benchmark {
  readonly title: string
  readonly file: string
  readonly about: string
}

const root = join(import.meta.dirname, '..')
const isNumber = /^\d+$/
const numbers = process.argv.slice(2).filter((word) => isNumber.test(word))

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
    title: 'Hooks',
    file: 'bench/hooks.ts',
    about:
      'What the hooks of one session cost, as whole processes, beside an empty one in the same run; and reading what they wrote.',
  },
  {
    title: 'Answers of hooks',
    file: 'bench/hook.ts',
    about:
      'From spawn to exit, beside an empty process and `git status` of the same tree of 2,000 files in the same run.',
  },
  {
    title: 'The dashboard',
    file: 'bench/dashboard.ts',
    about:
      'In a real browser: from an agent’s answer to the painted card, and the first paint with an empty cache.',
  },
  {
    title: 'The dashboard over a large plan',
    file: 'bench/dashboard-large.ts',
    about:
      'In a real browser: the first content with an empty cache, and what a page reads again when one task changes.',
  },
  {
    title: 'The review page',
    file: 'bench/review.ts',
    about: 'In a real browser: from a click to the first lines of a review, and frames while it is scrolled.',
  },
  {
    title: 'Statistics',
    file: 'bench/stats.ts',
    about:
      'Ten thousand attempts, read from SQLite and made into figures, in this process: what `waymark stats` does between its start and its answer.',
  },
  {
    title: 'Growth',
    file: 'bench/growth.ts',
    about:
      'Operations in records of 1,000, 10,000 and 100,000 tasks: processor time of one call in this process, and how many times as much it is in the largest record.',
  },
  {
    title: 'Many writers and several servers',
    file: 'bench/team.ts',
    about:
      'On SQLite and PostgreSQL in one run, beside the least that a transaction of the log costs there; and what follows from it for ten thousand agents. [Scale](../guide/scale.md) says what to make of it.',
  },
  {
    title: 'Beside other tools',
    file: 'bench/peers.ts',
    about:
      'The same plan and calls over MCP on stdio, in turns in one run; less is better, and the last column names the least. The other tools come from npm and run without a network. Task Master has its set of tools `standard`: its default set cannot create a task. Tokens of tools are those of names, descriptions and input schemas. Memory and processor time are those of each server and its processes. Task Master and Waymark list whole tasks, Backlog.md a line for each.',
  },
]

// A certificate that Node reads at its start would count as start-up.
const { NODE_EXTRA_CA_CERTS: _certificates, ...environment } = process.env

function section({ title, file, about }: Benchmark): string {
  console.error(`${file} …`)
  const start = new Date()
  const load = loadavg()[0] ?? 0
  const { stdout, status } = spawnSync(process.execPath, [file, ...numbers], {
    cwd: root,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) {
    console.error(`${file} ended with ${status}.`)
    process.exitCode = 1
  }
  console.error(`${file}: ${((Date.now() - start.getTime()) / 1000).toFixed(0)} s`)
  const measured = `Measured ${start.toISOString().slice(0, 16).replace('T', ' ')} with Node ${process.versions.node}, load ${load.toFixed(1)}${load > availableParallelism() ? ': each figure is higher than on a machine at rest' : ''}.`
  return `## ${title}\n\n${about}\n\n${measured}\n\n${stdout.trim()}\n`
}

const page = join(root, 'docs', 'reference', 'benchmarks.md')
const words = process.argv.slice(2).filter((word) => !isNumber.test(word))
const named = benchmarks.filter(({ file }) => words.length === 0 || words.includes(basename(file, '.ts')))
if (named.length === 0) {
  const known = benchmarks.map(({ file }) => basename(file, '.ts')).join(', ')
  throw new Error(`There is no benchmark ${words.join(', ')}: there are ${known}.`)
}

function headOf(before: string): string {
  const [processor] = cpus()
  if (named.length < benchmarks.length) return before
  return `# Benchmarks

Written by \`npm run bench\`, which runs ${benchmarks.map(({ file }) => `\`${file}\``).join(', ')}. Where a figure has a limit,
the last column says it, and whether the figure is over it. \`npm run bench -- team\` runs one of them alone.

Measured with Node ${process.versions.node} on ${type()} ${release()}, ${availableParallelism()} cores, ${processor?.model ?? 'an unknown processor'};
the load of the machine at the start was ${(loadavg()[0] ?? 0).toFixed(1)}.
`
}

const [before = '', ...kept] = readFileSync(page, 'utf8').split(/^(?=## )/m)
const head = headOf(before).trim()
const sections = benchmarks
  .filter(({ file }) => existsSync(join(root, file)))
  .map((benchmark) => {
    if (named.includes(benchmark)) return section(benchmark)
    return kept.find((text) => text.startsWith(`## ${benchmark.title}\n`)) ?? ''
  })
writeFileSync(
  page,
  `${[head, ...sections.map((text) => text.trim())].filter((text) => text !== '').join('\n\n')}\n`,
)
console.log('docs/reference/benchmarks.md')
