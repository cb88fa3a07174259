import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { plainLine } from '../../kernel/text.ts'
import { type Environment, firstSetVariable, userName } from './environment.ts'
import { enclosingTree, mainTree } from './project-location.ts'

/**
 * The name of the person at this machine: git's `user.name` for the folder, else the login. Starts git only if a
 * configuration file includes others.
 */
export function personName(environment: Environment, folder: string): string {
  const texts = configurationFiles(environment, folder).map(configurationIn)
  if (texts.some((text) => /^\s*\[\s*include/im.test(text))) {
    const name = plainName(askGit(environment, folder))
    if (name !== null) return name
  }
  for (const text of texts) {
    const name = plainName(configuredName(text) ?? '')
    if (name !== null) return name
  }
  return userName()
}

const patience = 2_000

/** Reading a setting runs no program that a repository configures. Empty if git fails. */
function askGit(environment: Environment, folder: string): string {
  try {
    return execFileSync('git', ['--no-pager', 'config', '--get', 'user.name'], {
      cwd: folder,
      env: environment,
      encoding: 'utf8',
      timeout: patience,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return '' // there is no name or no git
  }
}

const maxBytes = 1024 * 1024

/** The first that names the user wins, as for git. */
function configurationFiles(environment: Environment, folder: string): readonly string[] {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const named = environment['GIT_CONFIG_GLOBAL']
  const own = firstSetVariable(environment, ['XDG_CONFIG_HOME']) ?? join(home, '.config')
  return [
    ...repositoryFiles(folder, home),
    ...(named === undefined ? [join(home, '.gitconfig'), join(own, 'git/config')] : [named]),
  ]
}

function repositoryFiles(folder: string, home: string): readonly string[] {
  try {
    const top = enclosingTree(folder, home)
    if (top === null) return []
    const main = mainTree(top)
    return [join(main, '.git', 'config'), ...(main === top ? [] : [join(main, 'config')])]
  } catch {
    return [] // an unreadable file sets no name
  }
}

function configurationIn(file: string): string {
  try {
    return statSync(file).size > maxBytes ? '' : readRegularSync(file).toString('utf8')
  } catch {
    return '' // most files do not exist
  }
}

function plainName(text: string): string | null {
  const name = plainLine(text, 100).trim()
  return name === '' ? null : name
}

/** The last `name` of the section `user`, as git reads it. */
export function configuredName(text: string): string | null {
  let section = ''
  let name: string | null = null
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]*)\](.*)$/.exec(line)
    if (header) section = (header[1] ?? '').trim().toLowerCase()
    const given = /^\s*name\s*=\s*(.*)$/i.exec(header?.[2] ?? line)?.[1]
    if (section === 'user' && given !== undefined) name = unquoteConfigValue(given)
  }
  return name
}

/** A value without its quotes, escapes and comment. */
function unquoteConfigValue(text: string): string {
  const parts = text.match(/\\.|"|[^\\"]/gu) ?? []
  let value = ''
  let isQuoted = false
  for (const part of parts) {
    if (part === '"') isQuoted = !isQuoted
    else if (!isQuoted && (part === '#' || part === ';')) break
    else value += part.startsWith('\\') ? part.slice(1) : part
  }
  return value.trim()
}
