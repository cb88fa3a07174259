import type { ShellWord } from './shell-commands.ts'

/** Pathspecs, from the folder of the command; `all` is the whole work tree. */
export type GitPaths = 'all' | readonly string[]

/** What a command may destroy, or mix up. */
export type GitEffect =
  /** Overwrites or removes uncommitted files. */
  | {
      readonly kind: 'overwrite'
      readonly which: 'tracked' | 'untracked' | 'ignored' | 'any'
      readonly paths: GitPaths
      /** The paths are those of a shell, not pathspecs. */
      readonly plain?: true
    }
  /** Carries uncommitted files to another branch. `target` may be a file to overwrite instead. */
  | { readonly kind: 'switch'; readonly target: string | null }
  /** Puts files into the index, or into a commit. */
  | { readonly kind: 'stage'; readonly which: 'tracked' | 'any'; readonly paths: GitPaths }
  | { readonly kind: 'commit'; readonly which: 'staged' | 'tracked' | 'named'; readonly paths: GitPaths }
  /** Removes the work tree in this folder. */
  | { readonly kind: 'remove_tree'; readonly path: string }
  /** Takes or drops stash entries, which belong to all work trees of the repository. */
  | { readonly kind: 'stash' }
  /** Moves or removes refs, or objects that only they kept. */
  | { readonly kind: 'refs' }

export interface LabeledEffect {
  readonly label: string
  readonly effect: GitEffect
}

/**
 * The options of a command: `f,force` are two spellings of one, `m,message=` takes a value, `color[=]` only one that is
 * attached. A unique beginning of a long one is enough, and `no-` before it takes it back.
 */
type OptionSpec = readonly string[]

interface Arguments {
  /** By the long name, or the short one without; the value of those that take one. */
  readonly options: ReadonlyMap<string, string>
  /** The words before `--`. */
  readonly words: readonly ShellWord[]
  /** The words after it; null without. */
  readonly after: readonly ShellWord[] | null
}

interface Option {
  readonly name: string
  readonly value: 'none' | 'next' | 'attached'
}

function readArguments(args: readonly ShellWord[], spec: OptionSpec): Arguments {
  const { short, long } = optionsOf(spec)
  const options = new Map<string, string>()
  const words: ShellWord[] = []
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? { text: '', dynamic: false }
    const { text } = word
    if (text === '--') return { options, words, after: args.slice(at + 1) }
    if (text === '-' || !text.startsWith('-')) words.push(word)
    else if (text.startsWith('--')) {
      const [written = '', ...value] = text.slice(2).split('=')
      const isNegated = written.startsWith('no-') && findOption(long, written) === null
      const option = findOption(long, isNegated ? written.slice(3) : written)
      if (option === null) continue
      if (isNegated) {
        options.delete(option.name)
        continue
      }
      const takesNext = option.value === 'next' && value.length === 0
      options.set(option.name, takesNext ? (args[at + 1]?.text ?? '') : value.join('='))
      if (takesNext) at += 1
    } else at += readShortOptions(text.slice(1), args[at + 1], { short, options })
  }
  return { options, words, after: null }
}

/** Reads letters in one word. Returns how many further words they took. */
function readShortOptions(
  letters: string,
  next: ShellWord | undefined,
  { short, options }: { readonly short: ReadonlyMap<string, Option>; readonly options: Map<string, string> },
): number {
  for (let at = 0; at < letters.length; at += 1) {
    const option = short.get(letters[at] ?? '')
    if (option === undefined) continue
    if (option.value === 'none') {
      options.set(option.name, '')
      continue
    }
    const attached = letters.slice(at + 1)
    if (attached !== '' || option.value === 'attached') {
      options.set(option.name, attached.replace(/^=/, ''))
      return 0
    }
    options.set(option.name, next?.text ?? '')
    return 1
  }
  return 0
}

function findOption(long: ReadonlyMap<string, Option>, written: string): Option | null {
  const exact = long.get(written)
  if (exact !== undefined) return exact
  const found = new Set([...long].filter(([name]) => name.startsWith(written)).map(([, option]) => option))
  const [only] = found
  return found.size === 1 && only !== undefined ? only : null
}

interface OptionIndex {
  readonly short: ReadonlyMap<string, Option>
  readonly long: ReadonlyMap<string, Option>
}

const indexes = new WeakMap<OptionSpec, OptionIndex>()

function optionsOf(spec: OptionSpec): OptionIndex {
  const known = indexes.get(spec)
  if (known !== undefined) return known
  const short = new Map<string, Option>()
  const long = new Map<string, Option>()
  for (const entry of spec) {
    const value = entry.endsWith('[=]') ? 'attached' : entry.endsWith('=') ? 'next' : 'none'
    const names = entry.replace(/\[?=\]?$/, '').split(',')
    const option: Option = { name: names.at(-1) ?? '', value }
    for (const name of names) (name.length === 1 ? short : long).set(name, option)
  }
  const index = { short, long }
  indexes.set(spec, index)
  return index
}

interface Call extends Arguments {
  readonly has: (...names: readonly string[]) => boolean
  /** The pathspecs of all its words. */
  readonly paths: readonly string[]
  /** A setting by `-c`. */
  readonly setting: (key: string) => string | undefined
}

interface CommandSpec {
  readonly options: OptionSpec
  readonly effects: (call: Call) => readonly LabeledEffect[]
}

const none: readonly LabeledEffect[] = []

function one(label: string, effect: GitEffect): readonly LabeledEffect[] {
  return [{ label, effect }]
}

function overwrite(
  label: string,
  which: Extract<GitEffect, { kind: 'overwrite' }>['which'],
  paths: GitPaths,
): readonly LabeledEffect[] {
  return one(label, { kind: 'overwrite', which, paths })
}

const refs: GitEffect = { kind: 'refs' }

/** The named paths; all without any, or if they stand in a file or on standard input. */
function pathsOrAll({ paths, has }: Call): GitPaths {
  return paths.length === 0 || has('pathspec-from-file', 'stdin') ? 'all' : paths
}

const pathsFromFile: OptionSpec = ['pathspec-from-file=', 'pathspec-file-nul']
const conflicts: OptionSpec = ['m,merge', 'conflict=', 'ours', 'theirs']
const forWorkTree: OptionSpec = [
  'q,quiet',
  'progress',
  'recurse-submodules[=]',
  'overlay',
  'ignore-skip-worktree-bits',
  'p,patch',
  'U,unified=',
  'inter-hunk-context=',
]

const commands: Readonly<Record<string, CommandSpec>> = {
  reset: {
    options: [
      'mixed',
      'soft',
      'hard',
      'merge',
      'keep',
      'N,intent-to-add',
      'refresh',
      ...forWorkTree,
      ...pathsFromFile,
    ],
    effects: ({ has }) => {
      const [mode] = ['hard', 'merge', 'keep'].filter((name) => has(name))
      return mode === undefined ? none : overwrite(`reset --${mode}`, 'tracked', 'all')
    },
  },
  checkout: {
    options: [
      'f,force',
      'b=',
      'B=',
      'l',
      'd,detach',
      'orphan=',
      't,track[=]',
      'guess',
      'ignore-other-worktrees',
      'overwrite-ignore',
      'auto-advance',
      ...forWorkTree,
      ...conflicts,
      ...pathsFromFile,
    ],
    effects: checkoutEffects,
  },
  switch: {
    options: [
      'c,create=',
      'C,force-create=',
      'f,force',
      'discard-changes',
      'd,detach',
      'orphan=',
      't,track[=]',
      'guess',
      'ignore-other-worktrees',
      'overwrite-ignore',
      ...forWorkTree,
      ...conflicts,
    ],
    effects: ({ has, words }) => {
      const moved = has('force-create') ? one('switch -C', refs) : none
      if (has('force', 'discard-changes')) {
        return [...moved, ...overwrite('switch --discard-changes', 'tracked', 'all')]
      }
      const isNew = has('create', 'force-create', 'orphan')
      const [target] = words
      if (target === undefined || (isNew && target.text === 'HEAD')) return moved
      return [...moved, ...one('switch', { kind: 'switch', target: null })]
    },
  },
  restore: {
    options: [
      's,source=',
      'S,staged',
      'W,worktree',
      'ignore-unmerged',
      ...forWorkTree,
      ...conflicts,
      ...pathsFromFile,
    ],
    effects: (call) => {
      if (call.has('staged') && !call.has('worktree')) return none
      if (call.paths.length === 0 && !call.has('pathspec-from-file', 'patch')) return none
      return overwrite('restore', 'tracked', pathsOrAll(call))
    },
  },
  'checkout-index': {
    options: [
      'a,all',
      'f,force',
      'n,no-create',
      'q,quiet',
      'u,index',
      'z',
      'prefix=',
      'stage=',
      'stdin',
      'temp',
      'ignore-skip-worktree-bits',
    ],
    effects: (call) => {
      const { has, paths } = call
      if (!has('force') || has('prefix', 'temp', 'no-create')) return none
      if (paths.length === 0 && !has('all', 'stdin')) return none
      return overwrite('checkout-index -f', 'tracked', has('all') ? 'all' : pathsOrAll(call))
    },
  },
  'read-tree': {
    options: [
      'reset',
      'm',
      'u',
      'i',
      'n,dry-run',
      'v',
      'q,quiet',
      'trivial',
      'aggressive',
      'empty',
      'prefix=',
      'index-output=',
      'exclude-per-directory=',
      'recurse-submodules[=]',
      'sparse-checkout',
    ],
    effects: ({ has }) =>
      has('reset') && has('u') && !has('dry-run')
        ? overwrite('read-tree --reset -u', 'tracked', 'all')
        : none,
  },
  clean: {
    options: ['d', 'f,force', 'i,interactive', 'n,dry-run', 'q,quiet', 'e,exclude=', 'x', 'X'],
    effects: (call) => {
      const { has, setting } = call
      const isForced =
        has('force', 'interactive') || /^(?:false|no|off|0)$/i.test(setting('clean.requireforce') ?? '')
      if (!isForced || has('dry-run')) return none
      return overwrite('clean -f', has('X') ? 'ignored' : 'untracked', pathsOrAll(call))
    },
  },
  stash: {
    options: [
      'p,patch',
      'k,keep-index',
      'S,staged',
      'q,quiet',
      'u,include-untracked',
      'a,all',
      'm,message=',
      'index',
      ...pathsFromFile,
    ],
    effects: stashEffects,
  },
  rm: {
    options: ['f,force', 'n,dry-run', 'r', 'cached', 'ignore-unmatch', 'sparse', 'q,quiet', ...pathsFromFile],
    effects: (call) => (call.has('cached', 'dry-run') ? none : overwrite('rm', 'tracked', pathsOrAll(call))),
  },
  rebase: {
    options: [
      'i,interactive',
      'onto=',
      'continue',
      'skip',
      'abort',
      'quit',
      'edit-todo',
      'show-current-patch',
      'autostash',
      'root',
      'x,exec=',
      's,strategy=',
      'X,strategy-option=',
      'empty=',
      'q,quiet',
    ],
    effects: ({ has }) =>
      has('continue', 'quit', 'edit-todo', 'show-current-patch')
        ? none
        : overwrite('rebase', 'tracked', 'all'),
  },
  pull: {
    options: [
      'autostash',
      'r,rebase[=]',
      's,strategy=',
      'X,strategy-option=',
      'q,quiet',
      'v,verbose',
      'n',
      'f,force',
      'depth=',
      'o,server-option=',
      'upload-pack=',
      'all',
      'append',
    ],
    effects: ({ has, setting }) =>
      has('autostash') || setting('rebase.autostash') === 'true' || setting('merge.autostash') === 'true'
        ? overwrite('pull --autostash', 'tracked', 'all')
        : none,
  },
  worktree: {
    options: ['f,force', 'b=', 'B=', 'd,detach', 'reason=', 'expire=', 'n,dry-run'],
    effects: ({ has, words: [action, path] }) =>
      action?.text === 'remove' && has('force') && path !== undefined && !path.dynamic
        ? one('worktree remove --force', { kind: 'remove_tree', path: path.text })
        : none,
  },
  branch: {
    options: [
      'd,delete',
      'D',
      'f,force',
      'm,move',
      'M',
      'c,copy',
      'C',
      'a,all',
      'r,remotes',
      'l,list',
      'v,verbose',
      'q,quiet',
      't,track[=]',
      'u,set-upstream-to=',
      'unset-upstream',
      'edit-description',
      'show-current',
      'contains=',
      'no-contains=',
      'merged[=]',
      'no-merged[=]',
      'sort=',
      'format=',
      'points-at=',
      'column[=]',
      'color[=]',
      'abbrev[=]',
    ],
    effects: ({ has }) => {
      if (has('list', 'show-current')) return none
      if (has('D') || (has('delete') && has('force'))) return one('branch -D', refs)
      return has('force', 'M', 'C') ? one('branch -f', refs) : none
    },
  },
  'update-ref': {
    options: ['d', 'm=', 'no-deref', 'stdin', 'z', 'create-reflog'],
    effects: ({ has }) => (has('d', 'stdin') ? one('update-ref -d', refs) : none),
  },
  push: {
    options: [
      'f,force',
      'force-with-lease[=]',
      'force-if-includes',
      'mirror',
      'all',
      'branches',
      'tags',
      'follow-tags',
      'd,delete',
      'prune',
      'n,dry-run',
      'u,set-upstream',
      'o,push-option=',
      'receive-pack=',
      'exec=',
      'repo=',
      'q,quiet',
      'v,verbose',
      'atomic',
      'signed[=]',
      'recurse-submodules=',
      'porcelain',
      'progress',
      'thin',
      'verify',
    ],
    effects: ({ has, words, after }) => {
      const named = [...words, ...(after ?? [])].slice(1)
      const isForced =
        has('force', 'force-with-lease', 'mirror') || named.some(({ text }) => text.startsWith('+'))
      return isForced && !has('dry-run') ? one('push --force', refs) : none
    },
  },
  'filter-repo': { options: ['n,dry-run', 'analyze'], effects: filterEffects('filter-repo') },
  'filter-branch': { options: ['n,dry-run', 'analyze'], effects: filterEffects('filter-branch') },
  reflog: {
    options: ['n,dry-run', 'expire=', 'expire-unreachable=', 'all', 'rewrite', 'updateref', 'stale-fix'],
    effects: ({ has, words: [action] }) =>
      (action?.text === 'expire' || action?.text === 'delete') && !has('dry-run')
        ? one(`reflog ${action.text}`, refs)
        : none,
  },
  gc: {
    options: ['prune[=]', 'aggressive', 'auto', 'force', 'q,quiet', 'keep-largest-pack', 'detach', 'cruft'],
    effects: ({ options, setting }) => {
      const when = options.get('prune') || setting('gc.pruneexpire')
      return when === 'now' || when === 'all' ? one('gc --prune=now', refs) : none
    },
  },
  prune: {
    options: ['n,dry-run', 'v,verbose', 'progress', 'expire='],
    effects: ({ has }) => (has('dry-run') ? none : one('prune', refs)),
  },
  add: { options: addOptions(), effects: addEffects },
  stage: { options: addOptions(), effects: addEffects },
  commit: {
    options: [
      'a,all',
      'i,include',
      'o,only',
      'p,patch',
      'e,edit',
      's,signoff',
      'n,no-verify',
      'q,quiet',
      'v,verbose',
      'z,null',
      'amend',
      'dry-run',
      'short',
      'porcelain',
      'long',
      'branch',
      'status',
      'allow-empty',
      'allow-empty-message',
      'reset-author',
      'no-post-rewrite',
      'm,message=',
      'F,file=',
      'C,reuse-message=',
      'c,reedit-message=',
      't,template=',
      'fixup=',
      'squash=',
      'author=',
      'date=',
      'cleanup=',
      'trailer=',
      'u,untracked-files[=]',
      'S,gpg-sign[=]',
      ...pathsFromFile,
    ],
    effects: (call) => {
      if (call.has('dry-run')) return none
      if (call.has('all')) return one('commit -a', { kind: 'commit', which: 'tracked', paths: 'all' })
      const isNamed = call.paths.length > 0 || call.has('pathspec-from-file')
      const commit = { kind: 'commit', which: isNamed ? 'named' : 'staged', paths: pathsOrAll(call) } as const
      const staged = { kind: 'commit', which: 'staged', paths: 'all' } as const
      return isNamed && call.has('include')
        ? [...one('commit', commit), ...one('commit', staged)]
        : one('commit', commit)
    },
  },
}

function addOptions(): OptionSpec {
  return [
    'A,all',
    'u,update',
    'n,dry-run',
    'f,force',
    'v,verbose',
    'i,interactive',
    'p,patch',
    'e,edit',
    'N,intent-to-add',
    'renormalize',
    'refresh',
    'ignore-removal',
    'ignore-errors',
    'ignore-missing',
    'sparse',
    'chmod=',
    ...pathsFromFile,
  ]
}

function addEffects(call: Call): readonly LabeledEffect[] {
  const { has, paths } = call
  if (has('dry-run', 'refresh', 'interactive', 'patch', 'edit', 'intent-to-add')) return none
  const isWhole = has('all', 'update', 'renormalize')
  if (paths.length === 0 && !isWhole && !has('pathspec-from-file')) return none
  const which = has('update', 'renormalize') ? 'tracked' : 'any'
  const label = paths.length === 0 ? `add ${has('update') ? '-u' : '-A'}` : 'add'
  return one(label, { kind: 'stage', which, paths: pathsOrAll(call) })
}

function filterEffects(label: string): CommandSpec['effects'] {
  return ({ has }) => (has('dry-run', 'analyze') ? none : one(label, refs))
}

function checkoutEffects(call: Call): readonly LabeledEffect[] {
  const { has, words, after, paths } = call
  const isNew = has('b', 'B', 'orphan')
  const moved = has('B') ? one('checkout -B', refs) : none
  if (!isNew) {
    if (has('pathspec-from-file')) return overwrite('checkout', 'tracked', 'all')
    if (after !== null && after.length > 0) {
      return overwrite(
        'checkout --',
        'tracked',
        after.map(({ text }) => text),
      )
    }
    if (has('patch', 'ours', 'theirs')) return overwrite('checkout', 'tracked', pathsOrAll(call))
    // The first may be a commit: then it is no path, and matches nothing.
    if (words.length > 1) return overwrite('checkout', 'tracked', paths)
  }
  if (has('force')) return [...moved, ...overwrite('checkout -f', 'tracked', 'all')]
  const [target] = words
  if (target === undefined) {
    return has('detach') ? one('checkout --detach', { kind: 'switch', target: null }) : moved
  }
  if (isNew && (has('orphan') || target.text === 'HEAD')) return moved
  const isBranchOnly = isNew || has('detach', 'track') || after !== null
  return [...moved, ...one('checkout', { kind: 'switch', target: isBranchOnly ? null : target.text })]
}

const stashActions = ['list', 'show', 'create', 'store', 'export', 'import']

function stashEffects(call: Call): readonly LabeledEffect[] {
  const { has, words, after } = call
  const [action] = words
  const name = action?.text ?? 'push'
  if (stashActions.includes(name)) return none
  const takes = one(`stash ${name}`, { kind: 'stash' })
  if (['pop', 'apply', 'drop', 'clear', 'branch'].includes(name)) return takes
  if (name !== 'push' && name !== 'save') return none
  const named = name === 'push' ? [...words.slice(1), ...(after ?? [])] : []
  const paths = named.map(({ text }) => text)
  const which = has('include-untracked', 'all') ? 'any' : 'tracked'
  return overwrite('stash', which, paths.length === 0 ? 'all' : paths)
}

export const gitEffects = {
  /** Whether it is a command of git that is looked at, or one that git has by itself: no alias then. */
  isKnown: (name: string): boolean => Object.hasOwn(commands, name),
  /** What a command of git may destroy. */
  of: (
    name: string,
    args: readonly ShellWord[],
    given: ReadonlyMap<string, string>,
  ): readonly LabeledEffect[] => {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command === undefined) return none
    return command.effects(callOf(readArguments(args, command.options), given))
  },
  /** The effect of the shell's `rm`; null unless it removes folders. */
  remove: (args: readonly ShellWord[], spec: OptionSpec): GitEffect | null => {
    const { has, paths } = callOf(readArguments(args, spec), new Map())
    if (!has('recursive') || paths.length === 0) return null
    return { kind: 'overwrite', which: 'any', paths, plain: true }
  },
}

function callOf(read: Arguments, given: ReadonlyMap<string, string>): Call {
  const { options, words, after } = read
  return {
    ...read,
    has: (...names) => names.some((name) => options.has(name)),
    paths: [...words, ...(after ?? [])].map(({ text }) => text),
    setting: (key) => given.get(key),
  }
}
