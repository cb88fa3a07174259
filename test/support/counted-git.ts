import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CountedGit {
  /** What to put first in `PATH`. */
  readonly folder: string
  /** The commands that Waymark's git was started with since the last time this was asked. */
  readonly started: () => string[]
}

let git: string | undefined

/** A git in a folder that writes down how it is called, and then does what git does. */
export function countedGit(place: string): CountedGit {
  const folder = join(place, 'bin')
  const log = join(place, 'calls')
  git ??= execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  mkdirSync(folder)
  writeFileSync(log, '')
  // Waymark's own calls begin with two settings; others are the test's.
  const script = `[ "$2" = core.fsmonitor=false ] && echo "$5" >> '${log}'\nexec '${git}' "$@"\n`
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}`)
  chmodSync(join(folder, 'git'), 0o755)
  let told = 0
  return {
    folder,
    started: () => {
      // The log only grows: a call that is written down meanwhile is told the next time.
      const calls = readFileSync(log, 'utf8').split('\n').filter(Boolean)
      const since = calls.slice(told)
      told = calls.length
      return since
    },
  }
}
