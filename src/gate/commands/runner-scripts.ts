import { readContained } from '../../kernel/files/contained-file.ts'
import { isJsonObject, parseJson } from '../../kernel/json.ts'

/** A script that a command line leads to, as a file of its own: `package.json#test`. */
export interface RunnerScript {
  readonly path: string
  readonly text: string
}

export interface RunnerScripts {
  readonly scripts: readonly RunnerScript[]
  /** Files of the folder that say what the command does, as pinned paths. */
  readonly files: readonly string[]
}

const packageRunners: readonly string[] = ['npm', 'pnpm', 'yarn', 'bun']

/** Runners of several scripts at once, by names and patterns: all scripts count. */
const manyRunners: readonly string[] = [
  'npm-run-all',
  'npm-run-all2',
  'run-s',
  'run-p',
  'concurrently',
  'turbo',
  'nx',
  'lerna',
]

/** Runners whose file is read as a whole, with the options that name another file. */
const fileRunners: Readonly<Record<string, { readonly files: readonly string[]; readonly option: RegExp }>> =
  {
    make: { files: ['GNUmakefile', 'makefile', 'Makefile'], option: /^(?:-f|--file|--makefile)$/ },
    gmake: { files: ['GNUmakefile', 'makefile', 'Makefile'], option: /^(?:-f|--file|--makefile)$/ },
    just: { files: ['justfile', 'Justfile', '.justfile'], option: /^(?:-f|--justfile)$/ },
    task: { files: ['Taskfile.yml', 'Taskfile.yaml'], option: /^(?:-t|--taskfile)$/ },
    rake: { files: ['Rakefile', 'rakefile'], option: /^(?:-f|--rakefile)$/ },
    deno: { files: ['deno.json', 'deno.jsonc'], option: /^(?:-c|--config)$/ },
    tox: { files: ['tox.ini', 'pyproject.toml'], option: /^-c$/ },
    nox: { files: ['noxfile.py'], option: /^(?:-f|--noxfile)$/ },
    invoke: { files: ['tasks.py'], option: /^(?:-c|--collection)$/ },
    ant: { files: ['build.xml'], option: /^(?:-f|-file|-buildfile)$/ },
    composer: { files: [], option: /^$/ },
  }

const folderOption = /^(?:-C|--prefix|--dir|--cwd|--directory|-d|--working-dir)$/

/** Names that npm has for scripts, beside `run`. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  t: ['test'],
  tst: ['test'],
  test: ['test'],
  start: ['start'],
  stop: ['stop'],
  restart: ['restart', 'stop', 'start'],
  install: ['install', 'prepare'],
  i: ['install', 'prepare'],
  ci: ['install', 'prepare'],
}

const maxScripts = 200
const maxManifestBytes = 2_000_000

/**
 * The scripts that a command line leads to, with those before and after them, and those that these call. Words that only
 * look like the name of a script count too: then a person is asked once too often, never too seldom.
 */
export async function runnerScripts(folder: string, run: string): Promise<RunnerScripts> {
  const reader = new ScriptReader(folder)
  await reader.follow(run, '')
  return reader.found()
}

class ScriptReader {
  readonly #folder: string
  readonly #scripts = new Map<string, string>()
  readonly #files = new Set<string>()
  readonly #manifests = new Map<string, Promise<Readonly<Record<string, unknown>>>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  found(): RunnerScripts {
    return {
      scripts: [...this.#scripts]
        .map(([path, text]) => ({ path, text }))
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
      files: [...this.#files].sort(),
    }
  }

  /** The scripts of a command line, which is run in a folder: empty, or ending in `/`. */
  async follow(line: string, folder: string): Promise<void> {
    let below = folder
    for (const part of line.split(/&&|\|\||[;|&\n()`]/)) {
      const words = part
        .split(/\s+/)
        .map((word) => word.replace(/["']/g, ''))
        .filter((word) => word !== '')
      if (words[0] === 'cd') below = `${below}${asFolder(words[1])}`
      const at = words.findIndex((word) => isRunner(nameOf(word)))
      if (at !== -1) await this.#followRunner(nameOf(words[at] ?? ''), words.slice(at + 1), below)
    }
  }

  async #followRunner(runner: string, words: readonly string[], below: string): Promise<void> {
    const inFolder = `${below}${folderOf(words)}`
    if (packageRunners.includes(runner)) return this.#packageScripts(words, inFolder)
    if (manyRunners.includes(runner)) return this.#packageScripts(null, inFolder)
    if (runner === 'composer') return this.#allScripts(`${inFolder}composer.json`, inFolder)
    const { files = [], option = /^$/ } = fileRunners[runner] ?? {}
    const named = optionValue(words, option)
    for (const file of named === null ? files : [named]) this.#pin(`${inFolder}${file}`)
  }

  #pin(path: string): void {
    // A path that leaves the folder is none of the project, and cannot be pinned.
    if (!path.split('/').includes('..') && !path.startsWith('/')) this.#files.add(path)
  }

  /** Null for the words: every script. */
  async #packageScripts(words: readonly string[] | null, below: string): Promise<void> {
    const file = `${below}package.json`
    const { scripts, workspaces } = await this.#manifest(file)
    const all = isJsonObject(scripts) ? scripts : {}
    const isOfWorkspaces = words?.some((word) =>
      /^(?:-w|-ws|-r|--workspaces?(?:=.*)?|--filter(?:=.*)?|--recursive|workspaces?)$/.test(word),
    )
    if (isOfWorkspaces) {
      for (const pattern of workspacePatterns(workspaces))
        this.#pin(`${below}${pattern.replace(/\/$/, '')}/package.json`)
      this.#pin(`${below}pnpm-workspace.yaml`)
    }
    const named =
      words === null || isOfWorkspaces
        ? Object.keys(all)
        : words.flatMap((word) => (Object.hasOwn(aliases, word) ? (aliases[word] ?? []) : [word]))
    for (const name of new Set([...new Set(named)].flatMap((one) => [`pre${one}`, one, `post${one}`]))) {
      const text = Object.hasOwn(all, name) ? all[name] : undefined
      if (typeof text === 'string') await this.#add(`${file}#${name}`, text, below)
    }
  }

  async #allScripts(file: string, below: string): Promise<void> {
    const { scripts } = await this.#manifest(file)
    for (const [name, text] of Object.entries(isJsonObject(scripts) ? scripts : {}))
      await this.#add(`${file}#${name}`, typeof text === 'string' ? text : JSON.stringify(text), below)
  }

  async #add(path: string, text: string, below: string): Promise<void> {
    if (this.#scripts.has(path) || this.#scripts.size >= maxScripts) return
    this.#scripts.set(path, text)
    await this.follow(text, below)
  }

  /** Empty for a missing or broken manifest: the command then fails by itself. */
  #manifest(path: string): Promise<Readonly<Record<string, unknown>>> {
    const known = this.#manifests.get(path)
    if (known) return known
    const reading = readContained(this.#folder, path, { maxBytes: maxManifestBytes })
      .then((read) =>
        'reason' in read ? undefined : parseJson(read.content.toString('utf8').replace(/^\ufeff/, '')),
      )
      .catch(() => undefined)
      .then((value) => (isJsonObject(value) ? value : {}))
    this.#manifests.set(path, reading)
    return reading
  }
}

/** `npm` of `/usr/bin/npm` and `npm.cmd`. */
function nameOf(word: string): string {
  return word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).replace(/\.(?:cmd|exe)$/, '')
}

function isRunner(name: string): boolean {
  return packageRunners.includes(name) || manyRunners.includes(name) || Object.hasOwn(fileRunners, name)
}

function folderOf(words: readonly string[]): string {
  return asFolder(optionValue(words, folderOption))
}

/** `web/` of `./web`; empty for no folder. */
function asFolder(path: string | null | undefined): string {
  const parts = (path ?? '').split('/').filter((part, at) => part !== '.' && (part !== '' || at === 0))
  const named = parts.join('/')
  return named === '' ? '' : `${named}/`
}

/** The value of `--prefix web` or `--prefix=web`; null if it is not given. */
function optionValue(words: readonly string[], option: RegExp): string | null {
  for (const [at, word] of words.entries()) {
    const [name = '', value] = word.split('=', 2)
    if (option.test(name)) return value ?? words[at + 1] ?? null
  }
  return null
}

/** `workspaces: ["packages/*"]`, or the same below `packages`. */
function workspacePatterns(workspaces: unknown): readonly string[] {
  const list: unknown = isJsonObject(workspaces) ? workspaces['packages'] : workspaces
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string' && !one.startsWith('!')) : []
}
