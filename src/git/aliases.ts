import { join } from 'node:path'
import { readRegularSync } from '../kernel/files/regular-file.ts'

/** The aliases in the configuration of a user and of a repository, read without starting git: the last one counts. */
export function readAliases(environment: NodeJS.ProcessEnv, mainTop: string): ReadonlyMap<string, string> {
  const home = environment['HOME'] ?? environment['USERPROFILE'] ?? ''
  const xdg = environment['XDG_CONFIG_HOME'] || join(home, '.config')
  const own = environment['GIT_CONFIG_GLOBAL']
  const users = own === undefined ? [join(xdg, 'git', 'config'), join(home, '.gitconfig')] : [own]
  const aliases = new Map<string, string>()
  for (const file of [...users, join(mainTop, '.git', 'config')]) {
    for (const [name, value] of aliasesIn(textOf(file))) aliases.set(name, value)
  }
  return aliases
}

function textOf(file: string): string {
  try {
    return readRegularSync(file).toString('utf8')
  } catch {
    return ''
  }
}

/** The entries of the sections `alias`, with names in lower case. */
function aliasesIn(text: string): readonly (readonly [string, string])[] {
  if (!/alias/i.test(text)) return []
  const found: [string, string][] = []
  let isAlias = false
  for (const line of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const section = /^\s*\[\s*([^\]\s"]+)[^\]]*\](.*)$/.exec(line)
    if (section !== null) isAlias = section[1]?.toLowerCase() === 'alias'
    const entry = section === null ? line : (section[2] ?? '')
    const [, name, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*?)\s*$/.exec(entry) ?? []
    if (isAlias && name !== undefined && value !== undefined)
      found.push([name.toLowerCase(), unquoteValue(value)])
  }
  return found
}

/** A value without its quotes and comment. */
function unquoteValue(value: string): string {
  let text = ''
  let isQuoted = false
  for (let at = 0; at < value.length; at += 1) {
    const char = value[at] ?? ''
    if (char === '\\') {
      at += 1
      const next = value[at] ?? ''
      text += next === 'n' ? '\n' : next === 't' ? '\t' : next
    } else if (char === '"') isQuoted = !isQuoted
    else if (!isQuoted && (char === '#' || char === ';')) break
    else text += char
  }
  return text.trimEnd()
}
