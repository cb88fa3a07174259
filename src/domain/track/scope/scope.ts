import { type Area, type AreaContext, parseArea } from './area.ts'
import { folded, type ScopePath, scopePath } from './path.ts'

/** What an attempt declared that it would touch. */
export interface Scope {
  /** As declared: empty when nothing was, and then nothing can be judged. */
  readonly areas: readonly Area[]
  readonly included: readonly Area[]
  readonly excluded: readonly Area[]
  /** The project's folder from the work tree's top, folded. */
  readonly prefix: string
}

/** Whether a scope's areas hold a path, were silent about it, or excluded it. */
export type Coverage = 'covered' | 'silent' | 'excluded'

/** Reads declared areas. They are relative to the project's folder, the paths judged later to the work tree's top. */
export function parseScope(declared: readonly string[], context: AreaContext): Scope {
  const areas = declared.map((text) => parseArea(text, context)).filter((area) => area !== null)
  return {
    areas,
    included: areas.filter((area) => !area.excludes),
    excluded: areas.filter((area) => area.excludes),
    prefix: folded(context.prefix),
  }
}

/** Whether anything was declared. */
export function isDeclared(scope: Scope): boolean {
  return scope.areas.length > 0
}

/** What the areas say of a path from the work tree's top. Exclusions win. */
export function coverage(scope: Scope, path: string): Coverage {
  const subject = scopePath(path, scope.prefix)
  if (scope.excluded.some((area) => area.matches(subject))) return 'excluded'
  if (!isDeclared(scope)) return 'silent'
  const guarded = isGuarded(subject)
  const names = (area: Area): boolean => (!guarded || namesGuarded(area)) && area.matches(subject)
  // Exclusions alone mean: everything else.
  if (scope.included.length === 0) return guarded ? 'silent' : 'covered'
  return scope.included.some(names) ? 'covered' : 'silent'
}

/** Processes decide what an agent may do, so that no broad area opens them by the way: an area must name them. */
export function isGuarded({ top }: ScopePath): boolean {
  return top.startsWith('.waymark/') || top.includes('/.waymark/')
}

function namesGuarded(area: Area): boolean {
  return folded(area.text).includes('.waymark')
}
