import { fileKind } from '../scope/file-kind.ts'

/** What a changed line says about what is tested. Only some kinds are judged; the others are reported. */
export const weakeningKinds = [
  'skipped',
  'focused',
  'threshold',
  'ci_step',
  'test_file',
  'test',
  'assertion',
  'snapshot',
  'check',
] as const
export type WeakeningKind = (typeof weakeningKinds)[number]

/** The line patterns of an ecosystem: a line that matches after a change and not before says less is tested. */
export interface LinePatterns {
  readonly skips?: RegExp
  readonly focuses?: RegExp
  /** The beginning of a test. */
  readonly tests?: RegExp
  readonly assertions?: RegExp
  /** Comments that switch a check off. */
  readonly disables?: RegExp
  /** A whole line is a comment. */
  readonly comment: RegExp
}

const constant = /(?:true|false|null|none|nil|undefined|-?\d+(?:\.\d+)?|'[^']*'|"[^"]*")/.source

/** An assertion that compares constants only, in any language: it holds whatever the program does. */
export const constantAssertion = new RegExp(
  String.raw`(?:\bexpect|\bassert\w*!?(?:\.\w+)*|\bt\.\w+)\s*[\s(]\s*${constant}\s*(?:\)|$|(?:,|===?|is)\s*${constant}\s*(?:[),]|$))`,
  'i',
)

const slashes = /^\s*(?:\/\/|\/\*|\*)/
const hashes = /^\s*#/

const javaScript: LinePatterns = {
  skips:
    /(?<![\w.$])(?:(?:x(?:it|test|describe|context|specify)|pending)\s*\(|(?:it|test|describe|suite|context|specify|bench)(?:\.(?:concurrent|sequential|only|each|describe|parallel|serial))*\.(?:skip|todo|skipIf|fixme|fails)\b(?!\s*[:=])|this\.skip\(\)|(?:t|test|ctx|context)\.skip\()|\{[^}]*\bskip:\s*(?:true|['"`])/,
  focuses:
    /(?<![\w.$])(?:(?:it|test|describe|suite|context|specify)(?:\.(?:concurrent|sequential|describe|parallel|serial))*\.only\b|f(?:it|describe)\s*\()|\{[^}]*\bonly:\s*true/,
  tests:
    /(?<![\w.$])[xf]?(?:it|test|specify)(?:\.(?:each|concurrent|sequential|for|prop|skip|only|todo|fixme|fails))*\s*(?:\(|`|<)/,
  assertions:
    /(?<![\w$])(?:expect|assert)(?:\.\w+)*\s*\(|\bt\.(?:is|deepEqual|ok|equal|true|false|throws)\(|\.should\b/,
  disables:
    /\beslint-(?:disable)|\bbiome-ignore\b|@ts-(?:ignore|nocheck|expect-error)\b|\boxlint-disable|\b(?:istanbul|c8|v8) ignore\b/,
  comment: slashes,
}

const python: LinePatterns = {
  skips:
    /@(?:pytest\.mark\.(?:skip|skipif|xfail)|unittest\.(?:skip|skipIf|skipUnless|expectedFailure)|skip(?:If|Unless)?\b|expectedFailure|flaky\.skip)|\bpytest\.(?:skip|xfail|importorskip)\(|\bself\.skipTest\(|\bpytestmark\s*=.*\b(?:skip|xfail)|\bcollect_ignore(?:_glob)?\b|\b__test__\s*=\s*False/,
  tests: /^\s*(?:async\s+)?def\s+test\w*\s*\(/,
  assertions: /^\s*assert\b|\bself\.assert\w+\(|\bpytest\.raises\(/,
  disables:
    /#\s*(?:noqa|type:\s*ignore|pylint:\s*disable|mypy:\s*ignore|pyright:\s*ignore|nosec|pragma:\s*no cover)/,
  comment: hashes,
}

const go: LinePatterns = {
  skips: /\b[tbf]\.(?:Skip|Skipf|SkipNow)\(|^\/\/go:build\s+(?:ignore|never)\b|^\/\/ \+build ignore/,
  tests: /^func\s+(?:\([^)]*\)\s*)?(?:Test|Fuzz|Example)\w*\s*\(/,
  assertions: /\b(?:t|b|tb)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.\w+\(/,
  disables: /\/\/\s*nolint|\/\/\s*#nosec|\/\/lint:ignore/,
  comment: /^\s*\/\/(?!go:build|\s*\+build|\s*nolint|lint:)/,
}

const rust: LinePatterns = {
  skips: /#\[\s*ignore\b|#\[\s*cfg\(\s*(?:[a]ny\(\s*\)|never|FALSE)\s*\)\s*\]|#\[cfg_attr\([^\]]*\bignore\b/,
  tests: /#\[\s*(?:\w+::)*test\b/,
  assertions: /\b(?:debug_)?assert(?:_\w+)?!\s*[([{]/,
  disables: /#!?\[\s*allow\(|#!?\[\s*expect\(/,
  comment: slashes,
}

const jvm: LinePatterns = {
  skips:
    /@(?:Disabled|Ignore|DisabledOn\w+|DisabledIf\w*|Ignored)\b|\bassume(?:True|False|That)\s*\(\s*(?:false|true)\b|@Test\s*\([^)]*enabled\s*=\s*false|\bx(?:it|describe|context|test)\s*\(\s*"/,
  tests: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b/,
  assertions: /\b(?:assert\w*|fail|verify|assertThat|expectThat)\s*\(|\bshould(?:Be|Throw|Equal|Not)\w*\b/,
  disables:
    /@(?:SuppressWarnings|Suppress|SuppressFBWarnings|SuppressLint)\b|\/\/\s*(?:NOSONAR|NOPMD|noinspection|CHECKSTYLE[:.]OFF)/,
  comment: slashes,
}

const ruby: LinePatterns = {
  skips:
    /^\s*x(?:it|describe|context|specify|scenario|example)\b|^\s*(?:skip|pending)\b(?!\s*=)|\b(?:skip|pending):\s*(?:true|['"])|,\s*:(?:skip|pending)\b/,
  focuses: /^\s*f(?:it|describe|context|specify|scenario)\b|\bfocus:\s*true|,\s*:focus\b|^\s*focus\b/,
  tests: /^\s*[xf]?(?:it|specify|scenario|example|test)\s+['"]|^\s*def\s+test_\w+/,
  assertions: /\bexpect\s*[({]|^\s*(?:assert|refute)(?:_\w+)?\b|\.(?:should|must_\w+)\b/,
  disables: /#\s*rubocop:(?:disable|todo)|#\s*:nocov:/,
  comment: hashes,
}

const php: LinePatterns = {
  skips:
    /->markTest(?:Skipped|Incomplete)\(|->skip\(|->todo\(|@(?:group\s+skip|requires\b.*\bnever)|\b(?:it|test)\(.*\)->skip\b/,
  focuses: /\)\s*->only\(/,
  tests: /\bfunction\s+test\w*\s*\(|^\s*#\[Test\]|@test\b|^\s*(?:it|test)\(\s*['"]/,
  assertions: /(?:->|::)assert\w+\(|->expectException\w*\(|\bexpect\(/,
  disables: /@phpstan-ignore|@psalm-suppress|phpcs:(?:ignore|disable)|@codeCoverageIgnore|@SuppressWarnings/,
  comment: /^\s*(?:\/\/|#(?!\[)|\/\*|\*)/,
}

const cSharp: LinePatterns = {
  skips: /\[\s*(?:Ignore|Explicit)\b|\bSkip\s*=\s*"|\bAssert\.(?:Ignore|Inconclusive|Skip)\(/,
  tests: /\[\s*(?:Fact|Theory|Test|TestMethod|TestCase)\b/,
  assertions: /\bAssert\.\w+(?:<[^>]*>)?\(|\.Should\w*\(/,
  disables: /#pragma\s+warning\s+disable|\[\s*(?:\w+:\s*)?SuppressMessage\b|\[\s*ExcludeFromCodeCoverage\b/,
  comment: slashes,
}

const shell: LinePatterns = {
  skips: /^\s*skip\b(?!\s*=)|^\s*startSkipping\b/,
  tests: /^\s*@test\s+["']|^\s*(?:function\s+)?test_\w+\s*\(\)/,
  assertions: /^\s*assert\w*\b|^\s*\[\[?\s.*\]\]?\s*$|^\s*\[ .* \]\s*$/,
  disables: /#\s*shellcheck\s+disable/,
  comment: /^\s*#(?!\s*shellcheck)/,
}

const ecosystems: readonly (readonly [RegExp, LinePatterns])[] = [
  [/\.[cm]?[jt]sx?$|\.(?:vue|svelte|astro)$/, javaScript],
  [/\.pyi?$/, python],
  [/\.go$/, go],
  [/\.rs$/, rust],
  [/\.(?:java|kt|kts|groovy|scala)$/, jvm],
  [/\.(?:rb|rake)$/, ruby],
  [/\.php$/, php],
  [/\.cs$/, cSharp],
  [/\.(?:sh|bash|bats|zsh)$/, shell],
]

/** The patterns of a file's language; null for other files. */
export function linePatternsOf(path: string): LinePatterns | null {
  const lower = path.toLowerCase()
  return ecosystems.find(([name]) => name.test(lower))?.[1] ?? null
}

/** A number that a check compares with: the higher, the more is demanded. */
export const thresholds: readonly RegExp[] = [
  /["']?\b(?:branches|functions|lines|statements|coverage_?threshold|min_?coverage|minimum_coverage|fail_under|fail-under|break|high|low|target|threshold|minimum|mutation_?score|msi|min-msi|min-covered-msi|perFile)\b["']?\s*[:=]\s*["']?(\d+(?:\.\d+)?)/gi,
  /(?:--cov-fail-under|--fail-under(?:-\w+)?|--coverage\.thresholds?\.\w+|--check-coverage --\w+|--min-msi|--min|--lines|--branches|--functions|--statements|--threshold|--fail-under-lines)[= ](\d+(?:\.\d+)?)/g,
  /<minimum>\s*(\d+(?:\.\d+)?)\s*<\/minimum>/g,
  /\bminimum_coverage\s+(?:line:\s*)?(\d+(?:\.\d+)?)/g,
]

/** A file whose numbers decide whether a check passes. */
export function hasThresholds(path: string): boolean {
  return (
    /(?:^|\/)(?:package\.json|[^/]*(?:vite|vitest|jest|karma|stryker|nyc|c8|playwright)[^/]*\.(?:[cm]?[jt]s|json)|\.(?:nycrc|c8rc|coveragerc)[^/]*|codecov\.ya?ml|\.codecov\.ya?ml|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|pom\.xml|build\.gradle(?:\.kts)?|\.simplecov|(?:spec|test)_helper\.rb|rails_helper\.rb|phpunit\.xml(?:\.dist)?|infection\.json5?|tarpaulin\.toml|makefile|justfile)$/i.test(
      path,
    ) || isCiFile(path)
  )
}

export function isCiFile(path: string): boolean {
  return (
    fileKind(path) === 'ci' &&
    /\.ya?ml$|jenkinsfile$/i.test(path) &&
    !/(?:^|\/)\.(?:github|gitlab)\/(?!workflows\/|actions\/|ci\/)/i.test(path)
  )
}

export function isTestFile(path: string): boolean {
  return (
    fileKind(path) === 'test' ||
    /(?:Tests?|Spec|IT)\.(?:java|kt|cs|php|groovy|scala|swift)$|_test\.exs?$|\.bats$/.test(path)
  )
}

export function isSnapshotFile(path: string): boolean {
  return /\.snap$|(?:^|\/)__snapshots__\/|\.(?:snapshot|approved|golden)(?:\.\w+)?$/i.test(path)
}

/** Whether a change of this file is compared. */
export function isComparedFile(path: string): boolean {
  return isTestFile(path) || isCiFile(path) || hasThresholds(path)
}
