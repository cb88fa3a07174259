import { type GlobMatcher, globMatcher } from '../../glob.ts'
import { folded, type ScopePath } from './path.ts'
import { wordPattern } from './words.ts'

export type AreaKind = 'everything' | 'glob' | 'anchored' | 'segments' | 'package' | 'word'

/** One declared entry of a scope, ready to be compared with paths. */
export interface Area {
  /** As it was declared. */
  readonly text: string
  readonly kind: AreaKind
  readonly excludes: boolean
  readonly matches: (path: ScopePath) => boolean
}

/** Where a scope stands in its work tree. */
export interface AreaContext {
  /** The project's folder, from the work tree's top: `''` or ending in `/`. */
  readonly prefix: string
  /** Workspace packages: name → folder, relative to the project. */
  readonly packages?: ReadonlyMap<string, string>
}

type Matcher = Pick<Area, 'kind' | 'matches'>

/** Reads one declared entry; null when there is nothing in it. Never fails: a mistyped area matches no file. */
export function parseArea(text: string, context: AreaContext): Area | null {
  const trimmed = text.trim()
  const excludes = trimmed.startsWith('!')
  const pattern = (excludes ? trimmed.slice(1).trim() : trimmed).normalize('NFC')
  if (pattern === '') return null
  return { text, excludes, ...matcherFor(pattern, context) }
}

function matcherFor(pattern: string, context: AreaContext): Matcher {
  if (/[*?[\]{}]/.test(pattern)) return glob(pattern)
  const path = pattern.replaceAll('\\', '/')
  if (/^(\/|\.{1,2}(\/|$))/.test(path)) return anchored(path, context)
  if (path.startsWith('@')) {
    const folder = packageFolder(path, context)
    if (folder !== null) return { ...anchored(`/${folder}`, context), kind: 'package' }
  }
  if (path.includes('/') || /\.[^.\s]+$/.test(path)) return segments(path)
  return word(path)
}

// Parentheses and bars are ordinary characters of a path (`app/(shop)/page.tsx`), not groups.
function glob(pattern: string): Matcher {
  const body = pattern.replace(/^\.?\//, '').replace(/\/$/, '/**')
  // Brackets are a class of characters, or a literal folder name as in `app/[id]/page.tsx`: either may be meant.
  const readings = body.includes('[') ? [/[()|]/g, /[()|[\]]/g] : [/[()|]/g]
  const expressions = readings.map((literal) => expressionOf(body.replace(literal, '\\$&')))
  const wholePath = pattern.includes('/')
  const matches = (path: string): boolean => expressions.some((expression) => expression(path))
  return { kind: 'glob', matches: ({ own }) => own !== null && matches(wholePath ? own : baseName(own)) }
}

/** What cannot be matched in good time matches no file, as what is mistyped. */
function expressionOf(glob: string): GlobMatcher {
  try {
    const matches = globMatcher(glob, { areas: true })
    return (path) => {
      try {
        return matches(path)
      } catch {
        return false
      }
    }
  } catch {
    return () => false
  }
}

function anchored(path: string, { prefix }: AreaContext): Matcher {
  const target = resolved(`${prefix}${path.replace(/^\/+/, '')}`)
  if (target === null) return { kind: 'anchored', matches: () => false }
  if (target === '') return { kind: 'everything', matches: () => true }
  const file = folded(target)
  const folder = `${file}/`
  return { kind: 'anchored', matches: ({ top }) => top === file || top.startsWith(folder) }
}

// Null for a path that leaves the work tree.
function resolved(path: string): string | null {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts.join('/')
}

function packageFolder(path: string, { packages }: AreaContext): string | null {
  const wanted = folded(path)
  for (const [name, folder] of packages ?? []) {
    const known = folded(name)
    if (wanted === known) return folder
    if (wanted.startsWith(`${known}/`)) return `${folder}/${path.slice(known.length + 1)}`
  }
  return null
}

function segments(path: string): Matcher {
  const wanted = `/${folded(path).split('/').filter(Boolean).join('/')}/`
  const bare = wanted.slice(1, -1)
  return {
    kind: 'segments',
    // The first test is cheap and almost always answers.
    matches: ({ folded: own }) => own?.includes(bare) === true && `/${own}/`.includes(wanted),
  }
}

function word(text: string): Matcher {
  const pattern = wordPattern(text)
  if (pattern === null) return segments(text)
  const { hints, matches } = pattern
  return {
    kind: 'word',
    matches: ({ own, folded: lower, isAscii }) =>
      own !== null && lower !== null && hints.some((hint) => lower.includes(hint)) && matches(own, isAscii),
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
