import { quoteShellWord } from '../../../kernel/shell-word.ts'
import { type GitEffect, gitEffects } from './git-effects.ts'
import { mayNeedGuard } from './guarded-command.ts'
import { type ShellCommand, type ShellScope, type ShellWord, shellCommands } from './shell-commands.ts'

/** A command that may destroy work. */
export interface GitCommand {
  /** Its name for people: `git reset --hard`. */
  readonly name: string
  /** The folders to go to from the script's own, one after the other. */
  readonly folders: readonly string[]
  readonly effect: GitEffect
  /** Its folder or its program is only known when it runs: then nobody is asked. */
  readonly isUncertain: boolean
}

/** The alias of a name in git's configuration. */
export type GitAliases = (name: string) => string | undefined

// What goes beyond these is not understood. With them the time is linear.
const maxScriptLength = 1024 * 1024
const maxScripts = 8
const maxAliases = 5
const maxFound = 200
const maxFolders = 50
const maxPrefixes = 50
const maxFindCommands = 20
/** The length of all scripts that one contains. */
const maxTotalLength = 2 * 1024 * 1024

/** The commands of a shell script that may destroy work. What is not understood is left out. */
export function gitCommands(script: string, aliases: GitAliases): readonly GitCommand[] {
  if (!mayNeedGuard(script)) return []
  const found: GitCommand[] = []
  const budget = { left: maxTotalLength }
  // What stands behind that much runs after it.
  readScript(script.slice(0, maxScriptLength), {
    folders: [],
    isUncertain: false,
    depth: 0,
    aliases,
    found,
    budget,
  })
  return found
}

interface Reading {
  readonly folders: readonly string[]
  readonly isUncertain: boolean
  /** How many scripts it is inside of. */
  readonly depth: number
  readonly aliases: GitAliases
  readonly found: GitCommand[]
  /** The length of scripts that may still be read. */
  readonly budget: { left: number }
}

function isWithinBudget({ depth, budget }: Reading, length: number): boolean {
  budget.left -= length
  return depth <= maxScripts && budget.left >= 0
}

function readScript(script: string, reading: Reading): void {
  if (!isWithinBudget(reading, script.length)) return
  // Null where the script does not tell the folder.
  const folders = new Map<ShellScope, readonly string[] | null>()
  const folderOf = (scope: ShellScope): readonly string[] | null => {
    let known: ShellScope | null = scope
    while (known !== null && !folders.has(known)) known = known.parent
    const folder = known === null ? reading.folders : (folders.get(known) ?? null)
    folders.set(scope, folder)
    return folder
  }
  for (const command of shellCommands(script)) {
    if (reading.found.length >= maxFound) return
    const here = folderOf(command.scope)
    const words = withoutKeywords(command.words)
    const next = changedFolder(words, here)
    if (next !== undefined) folders.set(command.scope, next)
    else {
      // From an unknown folder on, it is taken for this one.
      const isUncertain = reading.isUncertain || here === null
      readCommand(words, command, { ...reading, folders: here ?? reading.folders, isUncertain })
    }
  }
}

const keywords = new Set(['{', '}', '!', 'then', 'do', 'else', 'elif', 'if', 'while', 'until'])

function withoutKeywords(words: readonly ShellWord[]): readonly ShellWord[] {
  // `function name {` is followed by the first command of its body.
  const skipped = words[0]?.text === 'function' ? 2 : 0
  const start = words.findIndex(({ text, dynamic }, at) => at >= skipped && (dynamic || !keywords.has(text)))
  return start <= 0 ? (start < 0 ? [] : words) : words.slice(start)
}

/** The folder after a `cd`; undefined for another command. */
function changedFolder(
  words: readonly ShellWord[],
  here: readonly string[] | null,
): readonly string[] | null | undefined {
  const [{ text: name } = { text: '' }, ...rest] = words
  if (name === 'popd') return null
  if (name !== 'cd' && name !== 'pushd') return undefined
  const [target] = rest.filter(({ text }) => !/^-[LPe@-]*$/.test(text) || text === '-')
  if (target === undefined || target.dynamic || /^[-~+]/.test(target.text)) return null
  return here === null || here.length >= maxFolders ? null : [...here, target.text]
}

/** The options of programs that run another one which take a value as the next word. */
const wrappers: Readonly<Record<string, readonly string[]>> = {
  sudo: ['-u', '-g', '-h', '-p', '-C', '-D', '-R', '-T', '-r', '-t', '-U', '--user', '--group', '--chdir'],
  doas: ['-u', '-C'],
  env: ['-u', '--unset'],
  flock: ['-w', '-E', '--timeout', '--conflict-exit-code'],
  time: ['-f', '-o', '--format', '--output'],
  command: [],
  builtin: [],
  exec: ['-a'],
  nohup: [],
  setsid: [],
  nice: ['-n', '--adjustment'],
  ionice: ['-c', '-n', '-p', '--class', '--classdata'],
  stdbuf: ['-i', '-o', '-e'],
  timeout: ['-k', '-s', '--kill-after', '--signal'],
  xargs: [
    '-a',
    '-d',
    '-E',
    '-I',
    '-L',
    '-n',
    '-P',
    '-s',
    '--arg-file',
    '--delimiter',
    '--max-args',
    '--max-procs',
  ],
}

const assignment = /^[A-Za-z_]\w*\+?=/
const unknownWord: ShellWord = { text: '*', dynamic: true }

function readCommand(words: readonly ShellWord[], command: ShellCommand, reading: Reading): void {
  let rest = words
  let { folders } = reading
  let workTree: string | null = null
  for (let prefixes = 0; ; prefixes += 1) {
    const [first] = rest
    if (first === undefined || prefixes > maxPrefixes) return
    if (assignment.test(first.text)) {
      const [variable, value = ''] = first.text.split(/=(.*)/s)
      if (variable === 'GIT_WORK_TREE') workTree = value
      rest = rest.slice(1)
      continue
    }
    const name = programName(first)
    if (first.dynamic || !Object.hasOwn(wrappers, name)) break
    const wrapped = unwrapCommand(name, rest.slice(1))
    if (wrapped === null) return
    if (wrapped.folder !== null) folders = [...folders, wrapped.folder]
    rest = wrapped.words
  }
  const [program, ...args] = rest
  if (program === undefined) return
  const inside = workTree === null ? { ...reading, folders } : { ...reading, folders: [...folders, workTree] }
  // A variable may hold git.
  if (program.text === '*' && program.dynamic) readGit(args, { ...inside, isUncertain: true })
  if (program.dynamic) return
  readProgram(programName(program), args, { command, reading: inside })
}

/** `git` of `/usr/bin/git`, `git.exe` and, where names have no case, `GIT`. */
function programName({ text }: ShellWord): string {
  const name = (text.split(/[\\/]/).at(-1) ?? '').replace(/\.exe$/i, '')
  return /^git(?:$|-)/i.test(name) ? name.toLowerCase() : name
}

/** The command that a wrapper runs; null if it runs none. */
function unwrapCommand(
  name: string,
  words: readonly ShellWord[],
): { readonly words: readonly ShellWord[]; readonly folder: string | null } | null {
  const withValue = wrappers[name] ?? []
  let folder: string | null = null
  let at = 0
  for (; at < words.length; at += 1) {
    const text = words[at]?.text ?? ''
    if (text === '--') {
      at += 1
      break
    }
    if (!text.startsWith('-') || text === '-') break
    // It only tells where the program is.
    if (name === 'command' && /^-\w*[vV]/.test(text)) return null
    if (name === 'env' && /^(?:-C|--chdir)/.test(text)) {
      const own = text.replace(/^(?:-C|--chdir=?)/, '')
      folder = own === '' ? (words[++at]?.text ?? null) : own
      continue
    }
    if (name === 'env' && /^(?:-S|--split-string)/.test(text)) {
      const own = text.replace(/^(?:-S|--split-string=?)/, '')
      const script = own === '' ? (words[++at]?.text ?? '') : own
      return { words: [...(shellCommands(script)[0]?.words ?? []), ...words.slice(at + 1)], folder }
    }
    if (withValue.includes(text)) at += 1
  }
  const rest = words.slice(at)
  if (name === 'timeout' || name === 'flock') return { words: rest.slice(1), folder }
  return { words: name === 'xargs' && rest.length > 0 ? [...rest, unknownWord] : rest, folder }
}

interface ProgramCall {
  readonly command: ShellCommand
  readonly reading: Reading
}

function readProgram(name: string, args: readonly ShellWord[], { command, reading }: ProgramCall): void {
  if (name === 'git') readGit(args, reading)
  // As in git's own folder of programs.
  if (name.startsWith('git-'))
    readSubcommand(name.slice('git-'.length), args, reading, { given: new Map(), aliases: 0 })
  if (name === 'rm') readRemove(args, reading)
  const inner = { ...reading, depth: reading.depth + 1 }
  if (name === 'eval') readScript(args.map(({ text }) => text).join(' '), inner)
  if (name === 'trap' && args[0]?.dynamic === false) readScript(args[0].text, inner)
  if (name === 'find') readFind(args, { command, reading: inner })
  if (!/^(?:ba|z|da|k|a|fi)?sh$/.test(name)) return
  const script = scriptOf(args) ?? (args.every(({ text }) => text.startsWith('-')) ? command.input : null)
  if (script !== null) readScript(script, inner)
}

/** The script after `-c`, which may stand among other letters: `-lc`. */
function scriptOf(args: readonly ShellWord[]): string | null {
  for (let at = 0; at < args.length; at += 1) {
    const { text = '', dynamic = false } = args[at] ?? {}
    if (dynamic || !/^[-+]/.test(text)) return null
    if (/^-\w*c\w*$/.test(text)) {
      const skipped = text.endsWith('o') ? 1 : 0
      const after = args.slice(at + 1 + skipped).find((word) => !/^[-+]\w/.test(word.text))
      return after?.text ?? null
    }
    if (/^[-+]\w*o$/.test(text) || text === '--rcfile' || text === '--init-file') at += 1
  }
  return null
}

/** What `find` runs for each file, of which nothing is known. */
function readFind(args: readonly ShellWord[], { command, reading }: ProgramCall): void {
  const deleted = findDeleted(args)
  if (deleted.length > 0) {
    const { folders, found, isUncertain } = reading
    found.push({
      name: 'find -delete',
      folders,
      isUncertain,
      effect: { kind: 'overwrite', which: 'any', paths: deleted },
    })
  }
  let commands = 0
  for (let at = 0; at < args.length && commands < maxFindCommands; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.text ?? '')) continue
    commands += 1
    if (!isWithinBudget(reading, args.length)) return
    const rest = args.slice(at + 1)
    const end = rest.findIndex(({ text }) => text === ';' || text === '+')
    const words = end < 0 ? rest : rest.slice(0, end)
    readCommand(
      words.map((word) => (word.text.includes('{}') ? unknownWord : word)),
      command,
      reading,
    )
    at += words.length
  }
}

/** The files that `find … -delete` removes: below its starting points, with the names and paths that it asks for. */
function findDeleted(args: readonly ShellWord[]): readonly string[] {
  const texts = args.map(({ text }) => text)
  // Of folders, only empty ones are removed.
  if (!texts.includes('-delete') || texts.includes('-empty') || texts.join(' ').includes('-type d')) return []
  const first = texts.findIndex((text) => /^[-(!]/.test(text))
  const starts = texts.slice(0, first).filter((text) => text !== '')
  const named = texts.flatMap((text, at) =>
    /^-i?(?:name|path)$/.test(text) ? [{ text, value: texts[at + 1] ?? '' }] : [],
  )
  return (starts.length === 0 ? ['.'] : starts)
    .slice(0, maxFolders)
    .flatMap((start) =>
      named.length === 0
        ? [start]
        : named
            .slice(0, maxFolders)
            .flatMap(({ text, value }) =>
              text.endsWith('path') ? [value] : [`${start}/${value}`, `${start}/*/${value}`],
            ),
    )
}

const removeSpec = ['r,recursive', 'R,recursive', 'f,force', 'i', 'I', 'v', 'd']

function readRemove(args: readonly ShellWord[], { folders, found, isUncertain }: Reading): void {
  const effect = gitEffects.remove(args, removeSpec)
  if (effect !== null) found.push({ name: 'rm -r', folders, effect, isUncertain })
}

/** The options of git itself that take a value as the next word. */
const globalValues = [
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
]

function readGit(args: readonly ShellWord[], reading: Reading): void {
  const folders = [...reading.folders]
  const given = new Map<string, string>()
  let workTree: string | null = null
  let { isUncertain } = reading
  let at = 0
  for (; at < args.length; at += 1) {
    const { text = '', dynamic = false } = args[at] ?? {}
    if (!text.startsWith('-')) break
    const next = args[at + 1]
    if (text === '-C') {
      if (next === undefined || folders.length >= maxFolders) return
      if (next.dynamic) isUncertain = true
      else if (next.text !== '') folders.push(next.text)
      at += 1
    } else if (text === '-c') {
      const [key = '', ...value] = (next?.text ?? '').split('=')
      given.set(key.toLowerCase(), value.length === 0 ? 'true' : value.join('='))
      at += 1
    } else if (text === '--work-tree') {
      workTree = next?.text ?? null
      if (next?.dynamic) isUncertain = true
      at += 1
    } else if (text.startsWith('--work-tree=')) {
      workTree = text.slice('--work-tree='.length)
      if (dynamic) isUncertain = true
    } else if (globalValues.includes(text)) at += 1
    else if (/^--(?:version|help|exec-path|html-path|man-path|info-path|list-cmds.*)$|^-[hv]$/.test(text))
      return
  }
  const [name, ...rest] = args.slice(at)
  if (name === undefined || name.dynamic) return
  const inside = workTree === null || isUncertain ? folders : [...folders, workTree]
  readSubcommand(name.text, rest, { ...reading, folders: inside, isUncertain }, { given, aliases: 0 })
}

interface SubcommandState {
  /** By `-c`. */
  readonly given: ReadonlyMap<string, string>
  /** How many aliases led to it. */
  readonly aliases: number
}

function readSubcommand(
  name: string,
  args: readonly ShellWord[],
  reading: Reading,
  { given, aliases }: SubcommandState,
): void {
  if (gitEffects.isKnown(name)) {
    for (const { label, effect } of gitEffects.of(name, args, given)) {
      const { folders, isUncertain } = reading
      reading.found.push({ name: `git ${label}`, folders, effect, isUncertain })
    }
    return
  }
  const alias = given.get(`alias.${name.toLowerCase()}`) ?? reading.aliases(name)
  if (alias === undefined || aliases >= maxAliases) return
  if (alias.startsWith('!')) {
    const script = `${alias.slice(1)} ${args.map(quoteWord).join(' ')}`
    // git runs it at the top of the work tree.
    readScript(script, { ...reading, folders: [...reading.folders, ':top'], depth: reading.depth + 1 })
    return
  }
  const [own] = shellCommands(alias)
  const words = [...(own?.words ?? []), ...args]
  const next = { ...reading, depth: reading.depth + 1 }
  if (!isWithinBudget(next, words.length)) return
  const [inner] = words
  if (inner?.text.startsWith('-')) readGit(words, next)
  else if (inner !== undefined) {
    readSubcommand(inner.text, words.slice(1), next, { given, aliases: aliases + 1 })
  }
}

function quoteWord({ text, dynamic }: ShellWord): string {
  return dynamic ? text : quoteShellWord(text)
}
