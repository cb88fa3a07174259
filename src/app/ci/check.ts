import { createHash } from 'node:crypto'
import { appendFileSync, writeFileSync } from 'node:fs'
import { Failure, messageOf } from '../../kernel/failure.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { plainWord } from '../../kernel/text.ts'
import { markdownText } from '../../reports/domain/document.ts'
import { shortRunIds } from '../../surfaces/cli/render/run-ids.ts'
import { print, printError } from '../../surfaces/cli/terminal.ts'
import { answerAsJson } from '../command-line.ts'
import { type Environment, formatIn } from '../settings/environment.ts'
import { ciPlace } from './runner.ts'

type CheckAnswer = OutputOf<'check'>
type CheckReason = CheckAnswer['reasons'][number]

/**
 * `waymark check`: checks the branch of the CI run, and reports in the format of the CI system. Exit code 0: passed,
 * 1: failed, 2: could not check.
 */
export async function checkBranch(words: readonly string[]): Promise<number> {
  const environment = process.env
  const { rest, gitlab, isJson } = wordsOf(words)
  const place = ciPlace(environment, process.cwd())
  const added = [
    ...(place.base !== null && !isNamed(rest, '--base') ? ['--base', place.base] : []),
    ...(place.head !== null && !isNamed(rest, '--head') ? ['--head', place.head] : []),
  ]
  const checked = await answerOf(['check', ...rest, ...added])
  if (typeof checked === 'string') {
    if (isJson) print(checked)
    return 2
  }
  if (gitlab !== null) writeQuality(gitlab, checked)
  if (isJson) print(`${JSON.stringify(checked)}\n`)
  else print(formatCheckResult(checked))
  if (place.runner === 'github') {
    // CI systems read annotations from the output; with JSON they go to standard error.
    const say = isJson ? printError : print
    say(annotations(checked))
    summarize(environment, checked)
  }
  return checked.passed ? 0 : 1
}

function wordsOf(words: readonly string[]) {
  const rest: string[] = []
  let gitlab: string | null = null
  let isJson = formatIn(process.env) === 'json'
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '--gitlab' || word.startsWith('--gitlab=')) {
      gitlab = word === '--gitlab' ? (words[at + 1] ?? '') : word.slice('--gitlab='.length)
      if (word === '--gitlab') at += 1
      if (gitlab === '' || gitlab.startsWith('--')) {
        throw new Failure('INVALID_INPUT', '--gitlab needs a file name.', {
          reason: 'flag_value_missing',
          hint: 'Example: waymark check --gitlab gl-code-quality-report.json',
        })
      }
    } else if (word === '--json' || word === '--format=json') isJson = true
    else if (word === '--format') {
      isJson = words[at + 1] === 'json'
      at += 1
    } else rest.push(word)
  }
  return { rest, gitlab, isJson }
}

function isNamed(words: readonly string[], flag: string): boolean {
  return words.some((word) => word === flag || word.startsWith(`${flag}=`))
}

/** The answer, or the printed refusal as JSON if nothing could be checked. */
async function answerOf(words: readonly string[]): Promise<CheckAnswer | string> {
  const { output, refusal } = await answerAsJson(words)
  return output === '' ? refusal : (JSON.parse(output) as CheckAnswer) // as the operation declares it, and tests compare
}

const maxInWords = 20

function formatCheckResult(answer: CheckAnswer): string {
  const { says, reasons, notes } = answer
  const lines = [
    says,
    ...reasons.map(({ message }) => `- ${oneLine(message)}`),
    ...sectionsOf(answer).flatMap(({ title, items }) => [
      `${title}:`,
      ...items.map((text) => `- ${oneLine(text)}`),
    ]),
    ...notes,
  ]
  return `${shortRunIds(lines.join('\n'))}\n`
}

/** The files and tasks that are listed without failing the check. */
function listedOnly({ unknown, tasks, reasons }: CheckAnswer): Pick<CheckAnswer, 'unknown' | 'tasks'> {
  const failing = new Set(reasons.map(({ kind, path, id }) => `${kind} ${path ?? id}`))
  return {
    unknown: unknown.filter(({ path }) => !failing.has(`unknown ${path}`)),
    tasks: tasks.filter(({ task_id: id }) => !failing.has(`verdict ${id}`) && !failing.has(`landed ${id}`)),
  }
}

function sectionsOf(answer: CheckAnswer) {
  const { unknown, tasks } = listedOnly(answer)
  const files = unknown.map(({ path, why }) => `${path}: ${why}`)
  return [
    { title: 'Unknown, but no failure', items: firstOf(files) },
    { title: 'Not proven, reverted or lost, but no failure', items: firstOf(tasks.map(taskLine)) },
  ].filter(({ items }) => items.length > 0)
}

function taskLine({
  task_id,
  name,
  verdict,
  rules,
  landed,
  accepted_by,
}: CheckAnswer['tasks'][number]): string {
  const why = rules.length === 0 ? '' : ` (${rules.map(plainWord).join(', ')})`
  const facts = [
    ...(verdict === null || verdict === 'proven' ? [] : [`${verdict}${why}`]),
    ...(accepted_by === undefined ? [] : [`accepted by ${accepted_by}`]),
    ...(landed === 'reverted' || landed === 'lost' ? [landed] : []),
  ]
  return `${name} (${task_id}): ${facts.join(', ')}`
}

function firstOf(lines: readonly string[]): readonly string[] {
  const more = lines.length - maxInWords
  return more > 0 ? [...lines.slice(0, maxInWords), `and ${more} more (--json lists them)`] : lines
}

/** One line. After `- ` and without `##[` no CI system takes it for a command. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('##[', '## [').trim()
}

/** Workflow commands of GitHub Actions: a line each, so nothing of a text may end it. */
function annotations(answer: CheckAnswer): string {
  const { reasons, passed, says } = answer
  const { unknown, tasks } = listedOnly(answer)
  const errors = reasons.map(({ message, path }) => annotation('error', path, message))
  const others = [
    ...unknown.slice(0, maxInWords).map(({ path, why }) => annotation('notice', path, `${path}: ${why}`)),
    ...tasks.slice(0, maxInWords).map((task) => annotation('notice', null, taskLine(task))),
  ]
  return [...errors, ...others, annotation(passed ? 'notice' : 'error', null, says)]
    .map((line) => `${line}\n`)
    .join('')
}

function annotation(level: 'error' | 'notice', path: string | null, message: string): string {
  const file =
    path === null ? '' : `file=${escapeWorkflowCommand(path).replace(/:/g, '%3A').replace(/,/g, '%2C')},`
  return `::${level} ${file}title=Waymark::${escapeWorkflowCommand(message)}`
}

function escapeWorkflowCommand(text: string): string {
  return text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
}

function summarize(environment: Environment, answer: CheckAnswer): void {
  const { says, passed, reasons, notes } = answer
  const file = environment['GITHUB_STEP_SUMMARY']
  if (!file) return
  const lines = [
    `## Waymark: ${passed ? 'passed' : 'not passed'}`,
    '',
    markdownText(says),
    '',
    ...reasons.map(({ message }) => `- ${markdownText(message)}`),
    ...sectionsOf(answer).flatMap(({ title, items }) => [
      '',
      `${title}:`,
      '',
      ...items.map((text) => `- ${markdownText(text)}`),
    ]),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => markdownText(note))]),
  ]
  try {
    appendFileSync(file, `${lines.join('\n')}\n`)
  } catch (error) {
    printError(`The summary could not be written to ${file}: ${messageOf(error)}\n`)
  }
}

/** A report of code quality, as GitLab shows it beside a merge request. */
function writeQuality(file: string, { reasons }: CheckAnswer): void {
  const entries = reasons.map((reason) => ({
    description: oneLine(reason.message),
    check_name: `waymark-${reason.kind}`,
    fingerprint: fingerprintOf(reason),
    severity: reason.kind === 'unknown' ? 'minor' : 'major',
    location: { path: reason.path ?? '.waymark', lines: { begin: 1 } },
  }))
  try {
    writeFileSync(file, `${JSON.stringify(entries, null, 2)}\n`)
  } catch (error) {
    throw new Failure('INVALID_INPUT', `${file} could not be written: ${messageOf(error)}`, {
      reason: 'file_not_writable',
    })
  }
}

/** Stable for the same reason, so that GitLab recognizes it. */
function fingerprintOf({ kind, path, id }: CheckReason): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, path, id]))
    .digest('hex')
}
