import {
  constantAssertion,
  hasThresholds,
  isCiFile,
  isSnapshotFile,
  isTestFile,
  type LinePatterns,
  linePatternsOf,
  thresholds,
  type WeakeningKind,
} from './line-patterns.ts'

/** A changed file with its contents; null for no file. */
export interface ComparedFile {
  readonly path: string
  /** The old path of a rename. */
  readonly from?: string
  readonly before: string | null
  readonly after: string | null
}

/** A place where a changed file tests or checks less than before. */
export interface Weakening {
  readonly path: string
  /** Null where the whole file, or the line, is gone. */
  readonly line: number | null
  readonly kind: WeakeningKind
  /** What happened, in neutral words. */
  readonly text: string
}

const judgedKinds: readonly WeakeningKind[] = ['skipped', 'focused', 'threshold', 'ci_step', 'test_file']

/** Whether it is judged; the others are only reported. */
export function isJudgedWeakening({ kind }: Weakening): boolean {
  return judgedKinds.includes(kind)
}

const maxWeakenings = 200

/**
 * Where changed files test less than before, by patterns of single lines. Text that is elsewhere in the change was moved
 * and is not reported. `exists` says whether a file is there after the change.
 */
export function weakenings(
  files: readonly ComparedFile[],
  exists: (path: string) => boolean,
): readonly Weakening[] {
  const changes = files.map((file): ComparedLines => {
    const [before, after] = [linesOf(file.before), linesOf(file.after)]
    return { ...file, removed: without(before, after), added: without(after, before) }
  })
  const isNew = unlessMoved(changes.flatMap(({ removed }) => removed))
  const isGone = unlessMoved(changes.flatMap(({ added }) => added))
  return changes
    .flatMap((file) => {
      const fresh = { ...file, added: file.added.filter(isNew), removed: file.removed.filter(isGone) }
      return [
        ...deletedTests(fresh, exists),
        ...weakenedTestLines(fresh),
        ...loweredThresholds(file),
        ...removedCiSteps(fresh),
        ...disabledChecks(fresh),
        ...rewrittenSnapshots(fresh),
      ]
    })
    .slice(0, maxWeakenings)
}

/** Whether a line is none of those that were moved: each of the others explains one. */
function unlessMoved(others: readonly ComparedLine[]): (line: ComparedLine) => boolean {
  const counts = new Map<string, number>()
  for (const { text } of others) counts.set(text.trim(), (counts.get(text.trim()) ?? 0) + 1)
  return ({ text }) => {
    const count = counts.get(text.trim()) ?? 0
    if (count > 0) counts.set(text.trim(), count - 1)
    return count === 0
  }
}

interface ComparedLine {
  readonly text: string
  readonly number: number
}

interface ComparedLines extends ComparedFile {
  readonly removed: readonly ComparedLine[]
  readonly added: readonly ComparedLine[]
}

function linesOf(content: string | null): readonly ComparedLine[] {
  return content === null ? [] : content.split(/\r?\n/).map((text, index) => ({ text, number: index + 1 }))
}

/** The lines that the other content does not have, or has fewer of, compared without their indentation. */
function without(lines: readonly ComparedLine[], others: readonly ComparedLine[]): readonly ComparedLine[] {
  const isOther = unlessMoved(others)
  return lines.filter((line) => isOther(line) && line.text.trim() !== '')
}

function deletedTests(file: ComparedLines, exists: (path: string) => boolean): readonly Weakening[] {
  const { path, before, after } = file
  const patterns = linePatternsOf(path)
  if (before === null || after !== null || patterns === null || !isTestFile(path)) return []
  const tests = countOf(linesOf(before), patterns.tests, patterns)
  // Tests that went to another file are not gone.
  if (tests === 0 || countOf(file.removed, patterns.tests, patterns) === 0) return []
  const subject = testedFiles(path).find(exists)
  if (subject === undefined) return []
  return [{ path, line: null, kind: 'test_file', text: `test file deleted, ${subject} stays` }]
}

/** The files that a test file may test: beside it, or in the source folder that mirrors its own. */
export function testedFiles(path: string): readonly string[] {
  const slash = path.lastIndexOf('/') + 1
  const [folder, name] = [path.slice(0, slash), path.slice(slash)]
  const plain = name
    .replace(/[._-](?:test|tests|spec|e2e)(?=\.\w+$)/i, '')
    .replace(/^test_(?=.+\.py$)/, '')
    .replace(/(?:Tests?|Spec|IT)(?=\.(?:java|kt|cs|php|groovy|scala|swift)$)/, '')
  if (plain === name) return []
  const names = [
    plain,
    ...(/\.[jt]sx?$/.test(plain)
      ? ['ts', 'tsx', 'js', 'jsx'].map((end) => plain.replace(/\.[jt]sx?$/, `.${end}`))
      : []),
  ]
  const folders = [
    folder,
    folder.replace(/(?:__tests__|tests?|specs?)\/$/, ''),
    ...['src', 'lib', 'app', ''].flatMap((source) => {
      const mirrored = folder.replace(
        /(^|\/)(?:tests?|specs?|__tests__)\/(?:(?:unit|integration)\/)?/,
        `$1${source === '' ? '' : `${source}/`}`,
      )
      return [mirrored]
    }),
    folder.replace('src/test/', 'src/main/'),
  ]
  return [...new Set(folders.flatMap((one) => names.map((own) => `${one}${own}`)))]
}

function weakenedTestLines(file: ComparedLines): readonly Weakening[] {
  const { path, after } = file
  const patterns = linePatternsOf(path)
  if (patterns === null || !isTestFile(path) || after === null || file.before === null) return []
  const { skips, focuses, tests, assertions } = patterns
  const weakeningsIn = (
    expression: RegExp | undefined,
    kind: WeakeningKind,
    text: string,
  ): readonly Weakening[] =>
    matching(file.added, expression, patterns).map(({ number: line }) => ({ path, line, kind, text }))
  const countRemoved = (expression: RegExp | undefined): number =>
    countOf(file.removed, expression, patterns) - countOf(file.added, expression, patterns)
  const isSkipChange = countOf(file.removed, skips, patterns) >= countOf(file.added, skips, patterns)
  const isFocusChange = countOf(file.removed, focuses, patterns) >= countOf(file.added, focuses, patterns)
  const commented = commentedTests(file, patterns)
  const lostTests = countRemoved(tests) - commented.length
  const assertionsIn = (lines: readonly ComparedLine[]): number =>
    matching(lines, assertions, patterns).filter(({ text }) => !constantAssertion.test(text)).length
  const lostAssertions = commented.length > 0 ? 0 : assertionsIn(file.removed) - assertionsIn(file.added)
  return [
    ...(isSkipChange ? [] : weakeningsIn(skips, 'skipped', 'test skipped')),
    ...(isFocusChange ? [] : weakeningsIn(focuses, 'focused', 'only this test runs')),
    ...commented,
    ...(lostTests > 0
      ? [
          {
            path,
            line: null,
            kind: 'test' as const,
            text: `${lostTests} ${lostTests === 1 ? 'test' : 'tests'} removed`,
          },
        ]
      : []),
    ...(lostAssertions > 0
      ? [
          {
            path,
            line: null,
            kind: 'assertion' as const,
            text: `${lostAssertions} ${lostAssertions === 1 ? 'assertion' : 'assertions'} removed`,
          },
        ]
      : []),
  ]
}

/** Tests that became comments. */
function commentedTests(file: ComparedLines, { tests, comment }: LinePatterns): readonly Weakening[] {
  if (tests === undefined) return []
  const removed = new Set(file.removed.map(({ text }) => text.trim()))
  return file.added.flatMap(({ text, number: line }) => {
    const bare = text.replace(/^\s*(?:\/\/|#|\/\*|\*)\s?/, '').trim()
    const isCommented = comment.test(text) && removed.has(bare) && tests.test(bare)
    return isCommented
      ? [{ path: file.path, line, kind: 'skipped' as const, text: 'test commented out' }]
      : []
  })
}

function matching(
  lines: readonly ComparedLine[],
  expression: RegExp | undefined,
  { comment }: LinePatterns,
): readonly ComparedLine[] {
  if (expression === undefined) return []
  return lines.filter(({ text }) => expression.test(text) && !comment.test(text))
}

function countOf(
  lines: readonly ComparedLine[],
  expression: RegExp | undefined,
  patterns: LinePatterns,
): number {
  return matching(lines, expression, patterns).length
}

function loweredThresholds({ path, removed, added, before, after }: ComparedLines): readonly Weakening[] {
  if (before === null || after === null || !hasThresholds(path)) return []
  const earlier = removed.flatMap(numbersIn)
  return added.flatMap((line) =>
    numbersIn(line).flatMap(({ name, value }) => {
      const index = earlier.findIndex((one) => one.name === name)
      const [known] = index < 0 ? [] : earlier.splice(index, 1)
      if (known === undefined || value >= known.value) return []
      const text = `threshold lowered from ${known.value} to ${value}`
      return [{ path, line: line.number, kind: 'threshold' as const, text }]
    }),
  )
}

/** Each number with the text around it, by which it is found again. */
function numbersIn({ text }: ComparedLine): readonly { readonly name: string; readonly value: number }[] {
  if (/^\s*(?:#|\/\/)/.test(text)) return []
  return thresholds.flatMap((expression) =>
    [...text.matchAll(expression)].map(([whole, value = '']) => ({
      name: whole.replace(value, '').replace(/\s+/g, '').toLowerCase(),
      value: Number(value),
    })),
  )
}

const checkWords =
  /\b(?:test|tests|lint|typecheck|type-check|tsc|check|coverage|audit|scan|verify|vet|clippy|pytest|tox|jest|vitest|mocha|rspec|phpunit|phpstan|psalm|mypy|ruff|flake8|eslint|biome|oxlint|golangci-lint|gradlew|mvn|cargo|go|dotnet|playwright|cypress|codeql|sonar|semgrep|trivy|e2e|validate|bats|shellcheck|fmt|format)\b/i
const stepLine = /^\s*(?:-\s*)?(?:run|script|uses|command|name|sh)\s*:|^\s*-\s+\S|^\s*sh\s/

function removedCiSteps(file: ComparedLines): readonly Weakening[] {
  const { path, before, after } = file
  if (before === null || !isCiFile(path)) return []
  const gone = commandsIn(file.removed)
  const come = commandsIn(file.added)
  const found: Weakening[] = gone.flatMap(({ text }) => {
    const replacement = come.findIndex((one) => isSimilar(one.text, text))
    if (replacement >= 0) {
      come.splice(replacement, 1)
      return []
    }
    return [
      {
        path,
        line: null,
        kind: 'ci_step' as const,
        text: `CI step removed: ${commandOf(text).slice(0, 80)}`,
      },
    ]
  })
  if (after === null) return found.slice(0, 1)
  const switchedOff = file.added.filter(
    ({ text }) =>
      /^\s*(?:-\s*)?if:\s*(?:\$\{\{\s*)?false\b/.test(text) ||
      /\|\|\s*true\s*$/.test(text) ||
      /^\s*when:\s*never\b/.test(text),
  )
  return [
    ...found,
    ...switchedOff.map(({ number: line }) => ({
      path,
      line,
      kind: 'ci_step' as const,
      text: 'CI step switched off',
    })),
  ]
}

/** The commands of steps that check something. */
function commandsIn(lines: readonly ComparedLine[]): ComparedLine[] {
  return lines.filter(({ text }) => {
    if (/^\s*#/.test(text) || /^\s*(?:-\s*)?name\s*:/.test(text)) return false
    const isCommand =
      stepLine.test(text) ||
      /^\s+(?:npm|npx|pnpm|yarn|bun|go|cargo|make|just|pytest|python|uv|poetry|tox|mvn|\.\/\w+|dotnet|bundle|composer|vendor\/bin)\b/.test(
        text,
      )
    return isCommand && checkWords.test(commandOf(text))
  })
}

function commandOf(text: string): string {
  return text
    .trim()
    .replace(/^-\s*/, '')
    .replace(/^(?:run|script|uses|command|sh)\s*:?\s*/, '')
    .replace(/^['"|>-]+|['"]$/g, '')
    .trim()
}

/** The same check with other options, of another version, or by another tool. */
function isSimilar(one: string, other: string): boolean {
  const checks = checksIn(one)
  return checksIn(other).some((check) => checks.includes(check))
}

/** What a command checks; by the name of its tool only if nothing else says it. */
function checksIn(text: string): readonly string[] {
  const found = [...commandOf(text).toLowerCase().matchAll(new RegExp(checkWords, 'gi'))].map(([word]) =>
    word.replace(/s$/, ''),
  )
  const own = found.filter((word) => !['go', 'cargo', 'gradlew', 'mvn', 'dotnet'].includes(word))
  return own.length > 0 ? own : found
}

function disabledChecks({ path, added, removed, before, after }: ComparedLines): readonly Weakening[] {
  if (before === null || after === null) return []
  const patterns = linePatternsOf(path)
  const expression = isCiFile(path) ? /continue-on-error:\s*true|allow_failure:\s*true/ : patterns?.disables
  if (expression === undefined) return []
  const lines = added.filter(({ text }) => expression.test(text))
  if (removed.filter(({ text }) => expression.test(text)).length >= lines.length) return []
  return lines.map(({ number: line }) => ({ path, line, kind: 'check' as const, text: 'check disabled' }))
}

function rewrittenSnapshots({ path, before, after, added, removed }: ComparedLines): readonly Weakening[] {
  if (!isSnapshotFile(path) || before === null || after === null) return []
  if (added.length === 0 || removed.length === 0) return []
  return [{ path, line: null, kind: 'snapshot', text: 'snapshot rewritten' }]
}
