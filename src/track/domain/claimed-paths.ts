import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import { plainName, plainReport } from './claimed-changes/plain-text.ts'

/** An agent's own report of its work. */
export interface ClaimedWork {
  readonly summary: string
  readonly achievements: readonly string[]
  readonly limitations?: readonly string[]
  /** Files outside the areas that the agent explains. */
  readonly unexpected?: readonly { readonly path: string }[] | undefined
}

/** The files of a completion that its agent claims to have changed and that did not change, or do not exist. */
export function unchangedClaims(
  evidence: Pick<AttemptMeasurement, 'claimedPaths'>,
  kind: 'unchanged' | 'missing' = 'unchanged',
): readonly string[] {
  return (evidence.claimedPaths ?? []).flatMap(({ path: named, found }) => (found === kind ? [named] : []))
}

/** The files that an agent says are not its own work, in its outcome or in a correction. */
export function deniedFiles(
  { notMine = [] }: Pick<Outcome, 'notMine'>,
  { denied = [] }: Pick<AttemptMeasurement, 'denied'>,
): readonly string[] {
  return [...new Set([...notMine, ...denied])]
}

const denial =
  /\b(?:(?:did|do|have|has|was|were)(?:n['’]t| not)(?: [\w'’-]+){0,4}? (?:touch|chang|edit|writ|wrote|modif)|without (?:touch|chang|edit|writ|modif)|not (?:my|mine)\b)/i

/** A report without what it says its agent did not do. */
export function withoutDenials(claimed: ClaimedWork): ClaimedWork {
  const remaining = (text: string) => sentencesOf(text).map(withoutDeniedClauses).join(' ')
  return {
    ...claimed,
    summary: remaining(claimed.summary),
    achievements: claimed.achievements.map(remaining),
  }
}

/** After "I did not touch a.ts", only "but I changed b.ts" is a claim again, not "because a.ts is Bob's". */
function withoutDeniedClauses(sentence: string): string {
  const clauses = sentence.split(clauseStart)
  const first = clauses.findIndex((clause) => denial.test(clause))
  return clauses
    .filter((clause, at) => first < 0 || at < first || (ownDeed.test(clause) && !denial.test(clause)))
    .join(' ')
}

const deeds =
  'changed|updated|edited|wrote|rewrote|added|fixed|created|modified|removed|refactored|renamed|moved'
/** "The total did not round, so I changed a.ts" denies nothing about the file. */
const clauseStart = new RegExp(
  `,?\\s(?=(?:so|but|because|except|although|while|whereas|without|and (?:i|we)|and (?:did|do|have|has|was|were)(?:n['’]t| not))\\b)|,\\s(?=(?:and )?(?:i|we|${deeds})\\b)`,
  'i',
)
const ownDeed = new RegExp(
  `^(?:(?:so|but|and|except|that|instead|also|then|only|i|we|i['’]ve|we['’]ve|have) ){0,5}(?:${deeds})\\b`,
  'i',
)

function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?;])\s|(?<=[。！？；])|\n/)
}

/** The paths that an agent's report names in full. */
export function pathsNamedIn(claimed: ClaimedWork, paths: readonly string[]): readonly string[] {
  const text = [claimed.summary, ...claimed.achievements, ...(claimed.limitations ?? [])].join('\n')
  // A name may itself look like two: `設定a.ts`.
  const texts = [plainName(text), plainReport(text)]
  const explained = new Set(claimed.unexpected?.map(({ path }) => plainName(path).replace(/^\.\//, '')))
  return paths.filter((path) => {
    const name = plainName(path)
    return explained.has(name) || texts.some((one) => hasPathName(one, name))
  })
}

/** The paths that a sentence with one of the words names in full. */
export function pathsNamedBeside(
  claimed: ClaimedWork,
  paths: readonly string[],
  words: RegExp,
): readonly string[] {
  const sentences = [claimed.summary, ...claimed.achievements, ...(claimed.limitations ?? [])]
    .flatMap(sentencesOf)
    .filter((sentence) => words.test(sentence))
  return pathsNamedIn({ summary: sentences.join('\n'), achievements: [] }, paths)
}

// Not a part of a longer name: neither `src/a.ts` in `old/src/a.ts`, nor in `src/a.tsx` or `src/a.ts.bak`.
function hasPathName(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const before = text.slice(0, at)
    const after = text.slice(at + path.length)
    const begins = /(?:^|[^\p{L}\p{N}_@./\\-])(?:\.\/)?$/u.test(before)
    if (begins && !/^(?:[\p{L}\p{N}_@/\\-]|\.[\p{L}\p{N}_])/u.test(after)) return true
  }
  return false
}
