import { resolve } from 'node:path'
import { pathSegmentsBelow, readContained } from '../../kernel/files/contained-file.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../kernel/json.ts'
import { patternProblem } from '../../kernel/path-pattern.ts'
import { redactOutput } from '../../kernel/redaction.ts'

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

/** Runners of the scripts in `package.json`. */
const packageRunners: readonly string[] = ['npm', 'pnpm', 'yarn', 'bun', 'nr']

/** Runners of several scripts at once, by names and patterns: all scripts count. With their own files. */
const manyRunners: Readonly<Record<string, readonly string[]>> = {
  'npm-run-all': [],
  'npm-run-all2': [],
  'run-s': [],
  'run-p': [],
  concurrently: [],
  nps: ['package-scripts.js'],
  wireit: ['package.json'],
  turbo: ['turbo.json'],
  nx: ['nx.json', 'project.json'],
  lerna: ['lerna.json'],
  lage: ['lage.config.js'],
}
/** Of these, the scripts of every workspace count. */
const workspaceRunners: readonly string[] = ['turbo', 'nx', 'lerna', 'lage']

/** Files that say how a package manager runs scripts, beside `.npmrc`. */
const managerFiles = ['.yarnrc', '.yarnrc.yml', 'bunfig.toml', 'pnpm-workspace.yaml']

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

/** Lines of such a file that bring in another one, without the space around them. */
const inclusion =
  /^(?:(?:-?include|sinclude|import\??|mod\??\s+\w+|load|(?:- )?taskfile:)\s|\w+:\s(?=\S+\.ya?ml["']?$))\s*(.+)$/
const maxInclusion = 1_000

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
const maxFolders = 20
const maxFiles = 1_000
const maxPinned = 5_000
const maxArguments = 50
const maxFileBytes = 2_000_000
/** Characters of scripts and files that are followed in all. */
const maxFollowed = 1_500_000
/** What each command of a line counts beside its characters. */
const partCost = 100

/**
 * The scripts that a command line leads to, with those before and after them, and those that these call. Words that only
 * look like the name of a script count too: then a person is asked once too often, never too seldom.
 */
export async function runnerScripts(folder: string, run: string): Promise<RunnerScripts> {
  const reader = new ScriptReader(folder)
  await reader.follow(run, '')
  return reader.sortedScripts()
}

class ScriptReader {
  readonly #folder: string
  readonly #scripts = new Map<string, string>()
  readonly #files = new Set<string>()
  readonly #texts = new Map<string, Promise<FileText>>()
  readonly #manifests = new Map<string, Promise<JsonObject | null>>()
  /** Folders whose settings of package managers were read. */
  readonly #settled = new Set<string>()
  /** Files of runners whose text was followed. */
  readonly #followed = new Set<string>()
  #budget = maxFollowed

  constructor(folder: string) {
    this.#folder = folder
  }

  sortedScripts(): RunnerScripts {
    return {
      scripts: [...this.#scripts]
        .map(([path, text]) => ({ path, text }))
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
      files: [...this.#files].sort(),
    }
  }

  /** The scripts of a command line, which is run in a folder: empty, or ending in `/`. */
  async follow(line: string, folder: string): Promise<void> {
    let folders = [folder]
    // Only after `cd x && …` the folder is certain. Else the command may run in any folder named so far.
    const isChain = !/\|\||[;|\n()`]|(?<!&)&(?!&)|\bpopd\b/.test(line)
    const text = line.replace(/\$[({](\w+)[)}]/g, (_, name: string) =>
      name === 'MAKE' ? 'make' : `$${name}`,
    )
    for (const part of text.split(/&&|\|\||[;|&\n()`]/)) {
      this.#budget -= (part.length + partCost) * folders.length
      if (this.#budget < 0) return this.#pinExisting(`${folder}package.json`)
      // Recipes of make begin with @, + or -.
      const command = part.replace(/^\s*[@+-]+/, '')
      const words = command.split(/\s+/).flatMap((word) => word.replace(/["']/g, '') || [])
      const exact = shellWords(command)
      if (words[0] === 'cd' || words[0] === 'pushd') {
        const entered = folders.flatMap((one) => this.#folderIn(one, exact[1]) ?? [])
        folders = isChain ? entered : [...new Set([...folders, ...entered])].slice(0, maxFolders)
      }
      for (const below of folders) {
        await this.#followPart(words, below)
        // Words in quotes may be a command, and may be one name.
        if (exact.join('\n') !== words.join('\n')) await this.#followPart(exact, below)
      }
    }
  }

  async #followPart(words: readonly string[], below: string): Promise<void> {
    // A variable in place of a program may be a package manager.
    const program = words.find((word) => !/^(?:\w+=.*|exec|env|command|time|nohup)$/.test(word)) ?? ''
    if (program.startsWith('$')) await this.#packageScripts(null, below)
    const first = words.findIndex((word) => isRunner(nameOf(word)))
    if (first === -1) return
    for (const [at, word] of words.entries()) {
      const name = nameOf(word)
      // A later word may only look like a runner.
      if (at === first || (isRunner(name) && at - first <= maxArguments))
        await this.#followRunner(name, words.slice(at + 1), { below, isCertain: at === first })
    }
  }

  async #followRunner(
    runner: string,
    words: readonly string[],
    { below, isCertain }: { readonly below: string; readonly isCertain: boolean },
  ): Promise<void> {
    const option = optionValue(words, folderOption)
    const inFolder = option === null ? below : this.#folderIn(below, option)
    if (inFolder === null) return
    if (runner === 'node')
      return words.some(isRunOption) ? this.#packageScripts(words.flatMap(runOption), inFolder) : undefined
    if (packageRunners.includes(runner)) return this.#packageScripts(words, inFolder)
    if (Object.hasOwn(manyRunners, runner)) {
      for (const file of manyRunners[runner] ?? []) await this.#pinExisting(`${inFolder}${file}`)
      if (workspaceRunners.includes(runner)) await this.#pinWorkspaces(inFolder)
      return this.#packageScripts(null, inFolder)
    }
    if (runner === 'composer') return this.#allScripts(`${inFolder}composer.json`, inFolder)
    await this.#followFiles(runner, words, { below: inFolder, isCertain })
    // It runs the scripts of `package.json` too.
    if (runner === 'deno') await this.#packageScripts(words, inFolder)
  }

  /** Pins the files of a runner, and follows the commands in them. */
  async #followFiles(
    runner: string,
    words: readonly string[],
    { below, isCertain }: { readonly below: string; readonly isCertain: boolean },
  ): Promise<void> {
    const { files = [], option = /^$/ } = fileRunners[runner] ?? {}
    const named = optionValues(words, option)
    for (const file of named.length > 0 ? named : files) {
      await (isCertain ? this.#pin(`${below}${file}`) : this.#pinExisting(`${below}${file}`))
      await this.#followFile(`${below}${file}`, below)
    }
  }

  async #followFile(path: string, below: string): Promise<void> {
    if (this.#followed.has(path) || this.#followed.size >= maxFiles) return
    this.#followed.add(path)
    const { text } = await this.#text(path)
    if (text === null) return
    for (const line of text.split('\n')) {
      const included = line.length > maxInclusion ? undefined : inclusion.exec(line.trim())?.[1]
      if (included === undefined) continue
      const names = included.replace(/\$[({]?\w*[)}]?/g, '*').replace(/["'()]/g, ' ')
      for (const file of names.split(/\s+/).filter((name) => name !== '' && name !== '*')) {
        // A part of its path that a variable holds may be any name.
        this.#pin(`${below}${file}`)
        if (!file.includes('*')) await this.#followFile(`${below}${file}`, below)
      }
    }
    await this.follow(text, below)
  }

  /** A folder named in another one, ending in `/`; null for one outside. */
  #folderIn(below: string, named: string | null | undefined): string | null {
    if (named == null || named === '-') return below
    const path = resolve(this.#folder, below, named)
    return (
      pathSegmentsBelow(this.#folder, path)
        ?.map((name) => `${name}/`)
        .join('') ?? null
    )
  }

  #pin(path: string): void {
    const plain = path.replace(/^(?:\.\/)+/, '')
    // A path that leaves the folder is none of the project, and cannot be pinned.
    if (this.#files.size < maxPinned && !plain.startsWith('/') && patternProblem(plain) === null)
      this.#files.add(plain)
  }

  /** A file that matters only where it exists: if it is added, it is pinned then. */
  async #pinExisting(path: string): Promise<void> {
    if (!(await this.#text(path)).isMissing) this.#pin(path)
  }

  /** Null for the words: every script. */
  async #packageScripts(words: readonly string[] | null, below: string): Promise<void> {
    const at = await this.#packageFolder(below)
    const file = `${at}package.json`
    const manifest = await this.#manifest(file)
    await this.#managerSettings(at)
    const all = manifest && isJsonObject(manifest['scripts']) ? manifest['scripts'] : {}
    const isOfWorkspaces = words?.some((word) =>
      /^(?:-w|-ws|-r|-F|--workspaces?(?:=.*)?|--filter(?:=.*)?|--recursive|workspaces?)$/.test(word),
    )
    if (isOfWorkspaces) await this.#pinWorkspaces(at)
    // A pattern, or a word that a variable holds, may be the name of any script.
    const isEvery =
      words === null || isOfWorkspaces || words.some((word) => /[$\\*?[\]{}]|^\/.*\/\w*$/.test(word))
    const named = isEvery
      ? Object.keys(all)
      : words.flatMap((word) => (Object.hasOwn(aliases, word) ? (aliases[word] ?? []) : [word]))
    for (const name of new Set([...new Set(named)].flatMap((one) => [`pre${one}`, one, `post${one}`]))) {
      const text = Object.hasOwn(all, name) ? all[name] : undefined
      if (typeof text === 'string') await this.#add(file, name, { text, below: at })
    }
  }

  /** As package managers look for it: in the folder, or in the next one above that has a manifest. */
  async #packageFolder(below: string): Promise<string> {
    for (let folder = below; folder !== ''; folder = folder.replace(/[^/]*\/$/, ''))
      if (!(await this.#text(`${folder}package.json`)).isMissing) return folder
    return ''
  }

  /** What decides how a package manager runs a script: its shell, its own program, options of Node. */
  async #managerSettings(below: string): Promise<void> {
    if (this.#settled.has(below)) return
    this.#settled.add(below)
    for (const name of managerFiles) await this.#pinExisting(`${below}${name}`)
    const { text, isMissing } = await this.#text(`${below}.npmrc`)
    const settings = text === null ? (isMissing ? '' : 'It cannot be read.') : withoutLogins(text)
    if (settings !== '') this.#scripts.set(`${below}.npmrc`, settings)
    const { text: yarn } = await this.#text(`${below}.yarnrc.yml`)
    const program = /^yarnPath:[ \t]*["']?([^"'\n]+)/m.exec(yarn ?? '')?.[1]
    if (program !== undefined) this.#pin(`${below}${program.trim()}`)
  }

  async #pinWorkspaces(below: string): Promise<void> {
    const manifest = await this.#manifest(`${below}package.json`)
    const { text } = await this.#text(`${below}pnpm-workspace.yaml`)
    const listed = [...(text ?? '').matchAll(/^[ \t]*-[ \t]*["']?([^"'#!\n]+)/gm)].map(([, one = '']) =>
      one.trim(),
    )
    for (const pattern of [...workspacePatterns(manifest?.['workspaces']), ...listed]) {
      for (const name of ['package.json', 'project.json'])
        this.#pin(`${below}${pattern.replace(/^\.\//, '').replace(/\/$/, '')}/${name}`)
    }
    this.#pin(`${below}pnpm-workspace.yaml`)
  }

  async #allScripts(file: string, below: string): Promise<void> {
    const scripts = (await this.#manifest(file))?.['scripts']
    for (const [name, text] of Object.entries(isJsonObject(scripts) ? scripts : {}))
      await this.#add(file, name, { text: typeof text === 'string' ? text : JSON.stringify(text), below })
  }

  async #add(
    file: string,
    name: string,
    { text, below }: { readonly text: string; readonly below: string },
  ): Promise<void> {
    const path = `${file}#${name}`
    if (this.#scripts.has(path)) return
    // Of too many scripts, the whole file counts.
    if (this.#scripts.size >= maxScripts) return this.#pin(file)
    this.#scripts.set(path, text)
    await this.follow(text, below)
  }

  /** Null for a missing one. One that cannot be read is pinned: runners are less strict. */
  #manifest(path: string): Promise<JsonObject | null> {
    const manifest = this.#manifests.get(path) ?? this.#readManifest(path)
    this.#manifests.set(path, manifest)
    return manifest
  }

  async #readManifest(path: string): Promise<JsonObject | null> {
    const { text, isMissing } = await this.#text(path)
    const value = text === null ? undefined : parseJson(text)
    if (isJsonObject(value)) return value
    if (!isMissing) this.#pin(path)
    return null
  }

  /** The text of a file; null where it cannot be read. */
  #text(path: string): Promise<FileText> {
    const known = this.#texts.get(path)
    if (known) return known
    const reading = readContained(this.#folder, path, { maxBytes: maxFileBytes, secrets: 'allowed' })
      .then(
        (read): FileText =>
          'reason' in read
            ? { text: null, isMissing: read.reason === 'missing' }
            : { text: read.content.toString('utf8').replace(/^\ufeff/, ''), isMissing: false },
      )
      .catch((): FileText => ({ text: null, isMissing: false }))
    this.#texts.set(path, reading)
    return reading
  }
}

interface FileText {
  readonly text: string | null
  readonly isMissing: boolean
}

/** The settings of an `.npmrc`, without tokens, logins and addresses. */
function withoutLogins(text: string): string {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^[;#]/.test(line))
    .filter(
      (line) =>
        !/^["']?(?:\/\/|_)|auth|token|passw|user|email|cert|key|proxy|registry/i.test(
          line.split(/[=;#]/, 1)[0] ?? '',
        ),
    )
  return redactOutput(lines.join('\n'))
}

/** `npm` of `/usr/bin/npm`, `npm.cmd` and `n\pm`; also of the variable in which npm has its own path. */
function nameOf(word: string): string {
  if (/npm_execpath|npm-cli\.js$/.test(word)) return 'npm'
  const name = word.slice(word.lastIndexOf('/') + 1).replace(/\.(?:cmd|exe|[cm]?js)$/, '')
  const plain = name.replaceAll('\\', '')
  return isRunner(plain) ? plain : name.slice(name.lastIndexOf('\\') + 1)
}

function isRunner(name: string): boolean {
  return (
    name === 'node' ||
    packageRunners.includes(name) ||
    Object.hasOwn(manyRunners, name) ||
    Object.hasOwn(fileRunners, name)
  )
}

/** `node --run test` and `node --run=test`. */
function isRunOption(word: string): boolean {
  return /^--run(?:=|$)/.test(word)
}

function runOption(word: string): readonly string[] {
  return isRunOption(word) ? [word.slice('--run='.length)] : [word]
}

/** The words as a shell reads them: quotes and backslashes keep spaces inside. */
function shellWords(command: string): readonly string[] {
  const found = command.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? []
  return found.map((word) => word.replace(/\\(.)|["']/g, '$1'))
}

/** The value of `--prefix web`, `--prefix=web` and `-Cweb`; null if it is not given. */
function optionValue(words: readonly string[], option: RegExp): string | null {
  return optionValues(words, option)[0] ?? null
}

function optionValues(words: readonly string[], option: RegExp): readonly string[] {
  return words.flatMap((word, at): readonly string[] => {
    const [name = '', value] = word.split('=', 2)
    if (option.test(name)) return [value ?? words[at + 1] ?? '']
    return /^-[a-zA-Z][^-=]/.test(word) && option.test(word.slice(0, 2)) ? [word.slice(2)] : []
  })
}

/** `workspaces: ["packages/*"]`, or the same below `packages`. */
function workspacePatterns(workspaces: unknown): readonly string[] {
  const list: unknown = isJsonObject(workspaces) ? workspaces['packages'] : workspaces
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string' && !one.startsWith('!')) : []
}
