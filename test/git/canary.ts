import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder, type WorkFolder } from '../support/git-repository.ts'

/** A program that leaves a trace when anything runs it. */
export interface Canary {
  readonly program: string
  readonly sang: () => boolean
}

export function makeCanary(): Canary {
  const folder = temporaryFolder()
  const trace = join(folder, 'trace')
  const program = join(folder, 'canary')
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${trace}'\ncat\n`)
  chmodSync(program, 0o755)
  execFileSync(program, [], { input: '' })
  if (!existsSync(trace)) throw new Error('The canary cannot sing, so its silence would mean nothing.')
  rmSync(trace)
  return { program, sang: () => existsSync(trace) }
}

const hooks = [
  'pre-commit',
  'post-index-change',
  'post-checkout',
  'pre-auto-gc',
  'reference-transaction',
  'fsmonitor-watchman',
  'post-rewrite',
  'sendemail-validate',
]

/** Everything in a repository that can make git run a program, set to run the canary. */
export function plant(repo: WorkFolder, { program }: Canary): void {
  const settings = {
    'core.fsmonitor': program,
    'core.hooksPath': join(program, '..', 'hooks'),
    'core.pager': program,
    'core.editor': program,
    'core.askPass': program,
    'core.sshCommand': program,
    'core.gitProxy': program,
    'core.alternateRefsCommand': program,
    'diff.external': program,
    'diff.evil.textconv': program,
    'diff.evil.command': program,
    'merge.evil.driver': program,
    'filter.evil.clean': program,
    'filter.evil.smudge': program,
    'filter.evil.process': program,
    'filter.evil.required': 'true',
    'filter.lfs.clean': program,
    'filter.lfs.process': program,
    'credential.helper': `!${program}`,
    'gpg.program': program,
    'interactive.diffFilter': program,
    'pager.status': program,
    'pager.log': program,
    'alias.status': `!${program}`,
    'alias.rev-parse': `!${program}`,
    'sequence.editor': program,
    'uploadpack.packObjectsHook': program,
    'trailer.x.command': program,
    'remote.origin.url': `ext::${program}`,
    'remote.origin.promisor': 'true',
    'remote.origin.uploadpack': program,
    'protocol.ext.allow': 'always',
    'extensions.partialClone': 'origin',
    'submodule.sub.update': `!${program}`,
    'browser.x.cmd': program,
    'log.showSignature': 'true',
  }
  repo.git('config', 'core.repositoryFormatVersion', '1')
  for (const [key, value] of Object.entries(settings)) repo.git('config', key, value)
  repo.put('.git/included', `[core]\n\tfsmonitor = ${program}\n[filter "evil"]\n\tclean = ${program}\n`)
  repo.git('config', 'include.path', 'included')
  repo.git('config', `includeIf.gitdir:${repo.top}/.path`, 'included')
  for (const folder of [join(program, '..', 'hooks'), repo.path('.git/hooks')]) {
    mkdirSync(folder, { recursive: true })
    for (const hook of hooks) {
      writeFileSync(join(folder, hook), `#!/bin/sh\nexec ${program}\n`)
      chmodSync(join(folder, hook), 0o755)
    }
  }
}
