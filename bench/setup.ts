import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { serverEnvironment } from '../test/support/stdio-project.ts'

// What setup and its undo cost from spawn to exit, beside an empty process: node bench/setup.ts [rounds]. Needs a build.

const rounds = Number(process.argv[2] ?? 15)
const bin = join(import.meta.dirname, '..', 'bin', 'waymark.js')
const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const folder = join(home, 'project')
mkdirSync(join(folder, '.git'), { recursive: true })
const env = { ...serverEnvironment(join(home, 'state')), HOME: home, NODE_EXTRA_CA_CERTS: '' }

const setup = [bin, 'setup', 'claude', '--allow', '--hooks', '--rules', '--yes']
const steps = [
  { what: 'node -e 0', words: ['-e', '0'] },
  { what: 'setup claude, 5 files with hooks', words: setup },
  { what: 'the same again: nothing to do', words: setup },
  { what: 'setup claude --undo', words: [bin, 'setup', 'claude', '--undo', '--yes'] },
  { what: 'setup zed --allow, every tool by name', words: [bin, 'setup', 'zed', '--allow', '--yes'] },
  { what: 'setup zed --undo', words: [bin, 'setup', 'zed', '--undo', '--yes'] },
].map((step) => ({ ...step, spent: [] as number[] }))

try {
  for (let round = 0; round <= rounds; round += 1) {
    for (const { what, words, spent } of steps) {
      const start = performance.now()
      const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, env, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${what} ended with ${status}: ${stderr}`)
      // The first round fills the compile cache.
      if (round > 0) spent.push(performance.now() - start)
    }
  }
  for (const { what, spent } of steps) {
    const sorted = spent.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0
    console.log(`${what.padEnd(40)} min ${sorted[0]?.toFixed(0)} ms, median ${median.toFixed(0)} ms`)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
