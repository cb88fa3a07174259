import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { quoteShellWord } from '../../src/kernel/shell-word.ts'
import { temporaryFolder, type WorkFolder } from '../support/git-repository.ts'

/** A program that leaves a trace when anything runs it. */
export interface Canary {
  readonly program: string
  /** The same for what git runs through a shell. */
  readonly command: string
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
  return { program, command: quoteShellWord(program), sang: () => existsSync(trace) }
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
export function plant(repo: WorkFolder, { program, command }: Canary): void {
  const settings = {
    'core.fsmonitor': command,
    'core.hooksPath': join(program, '..', 'hooks'),
    'core.pager': command,
    'core.editor': command,
    'core.askPass': program,
    'core.sshCommand': command,
    'core.gitProxy': program,
    'core.alternateRefsCommand': command,
    'diff.external': command,
    'diff.evil.textconv': command,
    'diff.evil.command': command,
    'merge.evil.driver': command,
    'filter.evil.clean': command,
    'filter.evil.smudge': command,
    'filter.evil.process': command,
    'filter.evil.required': 'true',
    'filter.lfs.clean': command,
    'filter.lfs.process': command,
    'credential.helper': `!${command}`,
    'gpg.program': program,
    'interactive.diffFilter': command,
    'pager.status': command,
    'pager.log': command,
    'alias.status': `!${command}`,
    'alias.rev-parse': `!${command}`,
    'sequence.editor': command,
    'uploadpack.packObjectsHook': command,
    'trailer.x.command': command,
    'remote.origin.url': `ext::${program.replaceAll(' ', '% ')}`,
    'remote.origin.promisor': 'true',
    'remote.origin.uploadpack': command,
    'protocol.ext.allow': 'always',
    'extensions.partialClone': 'origin',
    'submodule.sub.update': `!${command}`,
    'browser.x.cmd': command,
    'log.showSignature': 'true',
  }
  repo.put('.git/included', `[core]\n\tfsmonitor = ${command}\n[filter "evil"]\n\tclean = ${command}\n`)
  const included = { 'include.path': 'included', [`includeIf.gitdir:${repo.top}/.path`]: 'included' }
  repo.append('.git/config', configurationText({ ...settings, ...included }))
  repo.git('config', 'core.repositoryFormatVersion', '1')
  for (const folder of [join(program, '..', 'hooks'), repo.path('.git/hooks')]) {
    mkdirSync(folder, { recursive: true })
    for (const hook of hooks) {
      writeFileSync(join(folder, hook), `#!/bin/sh\nexec ${command}\n`)
      chmodSync(join(folder, hook), 0o755)
    }
  }
}

/** Settings as git keeps them in a file: one call of git for each takes far longer. */
function configurationText(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => {
      const [section, name] = [key.indexOf('.'), key.lastIndexOf('.')]
      const part = section === name ? '' : ` "${key.slice(section + 1, name)}"`
      const quoted = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
      return `[${key.slice(0, section)}${part}]\n\t${key.slice(name + 1)} = "${quoted}"\n`
    })
    .join('')
}
