import type { ClaimedChange } from './clause.ts'
import { endsAfterSeams, plainName } from './plain-text.ts'
import { readLines } from './report-claims.ts'
import { documentOf, hasFileExtension, readReport } from './report-text.ts'

/** An agent's report as far as it says what changed. */
interface ChangeReportText {
  readonly summary: string
  readonly achievements: readonly string[]
}

/** More files than this are not compared. */
const maxClaims = 500

/**
 * The files that a report says its author changed: a verb of change governs the path. What is denied, planned,
 * conditional or taken back is no claim, and neither is a path that is only mentioned.
 */
export function claimedChanges({ summary, achievements }: ChangeReportText): readonly ClaimedChange[] {
  const reports = [
    readLines(readReport(summary)),
    ...achievements.map((achievement) => readLines(readReport(achievement))),
  ]
  const denied = new Set(reports.flatMap((report) => report.denied))
  const claims = new Map<string, ClaimedChange>()
  for (const claim of reports.flatMap((report) => report.claims)) {
    if (denied.has(claim.path)) continue
    const earlier = claims.get(claim.path)
    claims.set(claim.path, earlier === undefined ? claim : joinClaims(earlier, claim))
  }
  return [...claims.values()].slice(0, maxClaims)
}

function joinClaims(a: ClaimedChange, b: ClaimedChange): ClaimedChange {
  return {
    path: a.path,
    isCreated: a.isCreated || b.isCreated,
    ...((a.isGone ?? b.isGone) && { isGone: true }),
    ...(a.isBeside && b.isBeside && { isBeside: true }),
  }
}

/** What is known about files when claims are compared with them. Paths are from the work tree's top. */
export interface MeasuredFiles {
  /** Everything that differs: both names of renamed files, ignored files, files of other authors. */
  readonly changed: readonly string[]
  /** Named paths that exist; a name without a folder only where exactly one file has it. */
  readonly existing: ReadonlySet<string>
  readonly links?: ClaimLinks
}

/** Named paths that lead through a link, and the path that each leads to; null for a file outside of the work tree that was written. */
type ClaimLinks = ReadonlyMap<string, string | null>

/** The paths that were claimed changed and did not change. */
export function unchangedPaths(
  claims: readonly ClaimedChange[],
  { changed, existing, links = new Map() }: MeasuredFiles,
): readonly string[] {
  const suspects = claimsWithoutChange(claims, changed, links, existing)
  return suspects.flatMap(({ path, isCreated, isBeside }) =>
    isBeside !== true &&
    (existing.has(path) || (isCreated && !path.includes(' ') && isOwnFile(links.get(path) ?? path)))
      ? [path]
      : [],
  )
}

/** The paths that were claimed changed and are no files; what may be anything but a file of the project is left out. */
export function missingPaths(
  claims: readonly ClaimedChange[],
  { changed, absent, links }: Omit<MeasuredFiles, 'existing'> & { readonly absent: ReadonlySet<string> },
): readonly string[] {
  return claimsWithoutChange(claims, changed, links).flatMap(({ path, isCreated, isGone }) => {
    // Quoted text with spaces may be something else, unless it was created.
    const isFile = path.includes(' ')
      ? isCreated
      : isBareFile(path) || (!isCreated && isOwnFile(path) && !elsewhere.test(path))
    return absent.has(path) && isGone !== true && isFile ? [path] : []
  })
}

/** A name without a folder, which no file of the work tree has. `Node.js` may be the product. */
function isBareFile(path: string): boolean {
  return !path.includes('/') && hasFileExtension(path) && (path === 'index.js' || !/^\w+\.js$/i.test(path))
}

/** The claims that no changed path answers: whether these files exist decides about them. */
export function claimsWithoutChange(
  claims: readonly ClaimedChange[],
  changed: readonly string[],
  links: ClaimLinks = new Map(),
  existing: ReadonlySet<string> = new Set(),
): readonly ClaimedChange[] {
  if (claims.length === 0) return []
  const names = changed.flatMap((path) => [path, documentOf(path)])
  const endings = new Set(names.flatMap((path) => endingsOf(foldPath(path))))
  const whole = new Set(names.map(foldPath))
  const folders = changed.filter((path) => path.endsWith('/')).map(foldPath)
  const isAnswered = (path: string): boolean => {
    const folded = foldPath(path)
    // An agent may name a file from its package's folder on.
    if (endings.has(folded)) return true
    // Or from the repository's own folder on; not where there is a file of that name.
    const [, below = ''] = endingsOf(folded)
    if (below.includes('/') && whole.has(below) && !existing.has(path)) return true
    return folders.some((folder) => folded.startsWith(folder))
  }
  return claims.filter(({ path }) => {
    const target = links.get(path) ?? path
    return links.get(path) !== null && !isAnswered(path) && !isAnswered(target)
  })
}

/** A created file need not exist if it can be nothing but a file of the project that would be measured. */
function isOwnFile(path: string): boolean {
  const isUnmeasured =
    /(?:^|\/)(?:dist|build|out|target|node_modules|coverage|tmp|temp|vendor|bin|obj|generated|__pycache__|\.git|\.waymark|\.venv|\.next|\.cache)\//i
  return path.includes('/') && hasFileExtension(path) && !isUnmeasured.test(path)
}

/** `example.com/a.md` and `@scope/package/a.js` are no files of the project. */
const elsewhere = /^(?:@|[^/]+\.(?:com|org|net|io|dev|app|ai|sh|co|de|uk)\/)/i

function foldPath(path: string): string {
  return plainName(path).toLowerCase()
}

/** A path, and its remainder below each of its folders. */
function endingsOf(path: string): readonly string[] {
  const endings = [path]
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) endings.push(path.slice(at + 1))
  return endings.flatMap((ending) => [ending, ...endsAfterSeams(ending)])
}
