import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import { Failure, messageOf } from '../kernel/failure.ts'
import type { OutputOf } from '../kernel/operations/catalog.ts'
import { processEnd } from '../kernel/process-end.ts'
import { formatCount } from '../kernel/text.ts'
import { commentText, draftLine, fileLine, headOf } from '../review/cli/review.ts'
import { parseComments, type QuotedFile, quotedDiff } from '../review/domain/editor-comments.ts'
import { type ReviewAction, reviewActions } from '../review/domain/review.ts'
import { indentText } from '../surfaces/cli/render/parts.ts'
import { escapeLineBreaks } from '../surfaces/cli/render/text.ts'
import {
  print,
  printableJson,
  printError,
  processTerminal,
  screenStreams,
  withoutControlCodes,
} from '../surfaces/cli/terminal.ts'
import { withoutInterrupt } from './process.ts'
import { commandLineActor } from './settings/actor.ts'
import { userName } from './settings/environment.ts'
import { isJsonRequested, readWords } from './settings/flags.ts'
import { openWatchedProject, type WatchedProject } from './watched-project.ts'

type ReviewAnswer = OutputOf<'review_show'>
type ReviewTarget = { readonly task: string } | { readonly mission: string } | { readonly since: true }

interface ReviewArguments {
  readonly subject: ReviewTarget
  readonly verdict: ReviewAction | null
  readonly text: string | undefined
  readonly content: string | undefined
  readonly write: boolean
  readonly file: string | undefined
  /** Comments that are not sent, to be removed: their ids, or `all`. */
  readonly dropped: readonly string[]
  /** What its reader has looked at is shown, too. */
  readonly again: boolean
  readonly json: boolean
}

/** `waymark review`: what there is to look at, its difference, comments in an editor, and the verdict. */
export async function review(words: readonly string[]): Promise<void> {
  const read = readWords('review', words)
  const [id, odd] = read.positionals
  if (odd !== undefined) throw read.mistaken(`review takes one task or mission, not "${odd}" as well.`)
  const flagged = reviewActions.filter((verdict) => read.has(verdict.replace('_', '-')))
  if (flagged.length > 1) throw read.mistaken('A review has one action: --approve, --send-back or --comment.')
  const [verdict = null] = flagged
  const project = await openWatchedProject(read.text('project'), (sentence) =>
    printError(`waymark: ${sentence}\n`),
  )
  try {
    const json = isJsonRequested(read)
    const dropped = read.texts('drop')
    if (id === undefined && !read.has('since')) {
      const acting = [...reviewActions.map((one) => one.replace('_', '-')), 'write', 'from', 'drop', 'again']
      const without = acting.find((flag) => read.has(flag))
      if (without !== undefined) throw read.mistaken(`--${without} needs a task or a mission, or --since.`)
      return await listWaiting(project, json)
    }
    if (id !== undefined && read.has('since')) {
      throw read.mistaken(`Review either ${id}, or all new work with --since.`)
    }
    const asked: ReviewArguments = {
      subject: subjectOf(id),
      verdict,
      text: read.text('text'),
      content: read.text('content'),
      write: read.has('write'),
      file: read.text('from'),
      dropped,
      again: read.has('again'),
      json,
    }
    assertPerson(asked)
    await reviewOne(project, asked)
  } finally {
    await project.close()
  }
}

function subjectOf(id: string | undefined): ReviewTarget {
  if (id === undefined) return { since: true }
  return /^[mw]-/.test(id) ? { mission: id } : { task: id }
}

/** As every other verdict: refused where an agent sits at the shell. */
function assertPerson({ verdict, write, file, dropped }: ReviewArguments): void {
  const actor = commandLineActor(process.env, userName())
  const isReading = verdict === null && !write && file === undefined && dropped.length === 0
  if (actor.kind === 'person' || isReading) return
  throw new Failure('FORBIDDEN', `Only people write reviews. ${actor.name} is an agent.`, {
    reason: 'person_needed',
    hint: 'Answer comments with waymark review reply <comment> "<text>", or the tool reply_to_review.',
  })
}

async function listWaiting(project: WatchedProject, json: boolean): Promise<void> {
  const { items, total } = await project.ask('inbox', {})
  const since = await project.ask('review_show', { since: true })
  const about = items.filter(({ kind }) => kind === 'review' || kind === 'approval' || kind === 'scope')
  const subjects = new Map(about.map((item) => [item.task_id ?? item.mission_id ?? item.item_id, item]))
  if (json) return printJson({ waiting: about, since })
  const lines = [...subjects].map(
    ([id, { kind, task_name, mission_name }]) => `${id}  ${kind}  ${task_name ?? mission_name ?? ''}`,
  )
  print(
    [
      ...(lines.length === 0 ? ['Nothing needs a review.'] : lines),
      ...(total > items.length ? [`${total - items.length} more: waymark inbox.`] : []),
      `New since your last review: ${formatCount(since.totals.files, 'file')}, +${since.totals.added} −${since.totals.removed}: waymark review --since`,
      '',
    ].join('\n'),
  )
}

async function reviewOne(project: WatchedProject, asked: ReviewArguments): Promise<void> {
  if (asked.dropped.length > 0) await dropDrafts(project, asked)
  const shown = await project.ask('review_show', asked.subject)
  const isWritten = asked.write || asked.file !== undefined
  // Who writes in an editor sees there what it is about.
  const content =
    asked.content ?? (asked.verdict === null || asked.write ? shown.content : missingContentFailure(shown))
  if (isWritten) await writeComments(project, asked, shown)
  if (asked.verdict !== null) return send(project, asked, { shown, content })
  if (isWritten) return
  if (asked.dropped.length > 0) return
  if (asked.json) return printJson(shown)
  const files = await quotedFiles(project, asked, shown)
  const streams = screenStreams()
  const next = streams === null ? `\n${formatNextSteps(asked.subject, shown)}\n` : ''
  await page(`${summary(shown)}\n${plainDiff(files)}${next}`)
  if (streams !== null) await decideAfterReview(project, asked, { shown, streams })
}

function printJson(value: object): void {
  print(`${printableJson(JSON.stringify(value, null, processTerminal().interactive ? 2 : 0))}\n`)
}

/** The command again, as it is typed. */
function commandOf(subject: ReviewTarget): string {
  return `waymark review ${'task' in subject ? subject.task : 'mission' in subject ? subject.mission : '--since'}`
}

function formatNextSteps(subject: ReviewTarget, { content, files, may }: ReviewAnswer): string {
  const command = commandOf(subject)
  return [
    `Comment on it: ${command} --write`,
    ...(files.some(({ viewed }) => viewed !== null) ? [`Show viewed files, too: ${command} --again`] : []),
    ...(may.decide
      ? [`Decide: ${command} --approve or --send-back --text "…", with --content ${content.slice(0, 12)}`]
      : []),
  ].join('\n')
}

/** Removes comments that are not sent: of this review, or those that are named. */
async function dropDrafts(
  project: WatchedProject,
  { subject, dropped, json }: ReviewArguments,
): Promise<void> {
  const { drafts } = await project.ask('review_show', subject)
  const ids = dropped.includes('all') ? drafts.map(({ comment_id }) => comment_id) : dropped
  for (const id of ids) await project.ask('review_comment_drop', { comment_id: id })
  if (!json) print(`${formatCount(ids.length, 'comment')} removed.\n`)
}

/** What is decided without looking is decided about something that is named. */
function missingContentFailure({ content }: ReviewAnswer): never {
  throw new Failure('INVALID_INPUT', 'Pass --content to confirm the version you reviewed.', {
    reason: 'content_needed',
    hint: `The current version is ${content.slice(0, 12)}. Review it first.`,
  })
}

async function decideAfterReview(
  project: WatchedProject,
  asked: ReviewArguments,
  {
    shown,
    streams,
  }: { readonly shown: ReviewAnswer; readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout'> },
): Promise<void> {
  const lines = createInterface({ input: streams.stdin, output: streams.stdout })
  const ask = questionReader(lines)
  let { again } = asked
  try {
    for (;;) {
      const answer = await ask(
        '[w]rite comments, [l]ook at all files again, [a]pprove, [s]end back, [c]omment, [q]uit: ',
      )
      if (answer === null) return print('\nNothing was sent.\n')
      if (answer === '' || answer.startsWith('q')) return
      if (answer.startsWith('w') || answer.startsWith('l')) {
        again ||= answer.startsWith('l')
        lines.pause()
        if (answer.startsWith('w')) await writeComments(project, { ...asked, again }, shown)
        else await page(plainDiff(await quotedFiles(project, { ...asked, again }, shown)))
        lines.resume()
        continue
      }
      const verdict = ({ a: 'approve', s: 'send_back', c: 'comment' } as const)[answer[0] as 'a' | 's' | 'c']
      if (verdict === undefined) continue
      const text = await ask('Text (optional): ')
      if (text === null) return print('\nNothing was sent.\n')
      const words = text === '' ? undefined : text
      return await send(project, { ...asked, verdict, text: words }, { shown, content: shown.content })
    }
  } finally {
    lines.close()
  }
}

/** Asks a person. Null where they leave, by Ctrl-C or Ctrl-D. */
function questionReader(lines: Interface): (question: string) => Promise<string | null> {
  let isClosed = false
  const closed = new Promise<null>((resolve) => {
    lines.once('close', () => {
      isClosed = true
      resolve(null)
    })
  })
  return async (question) => {
    const answer = lines.question(question).catch((error: unknown) => {
      if (isClosed) return null
      throw error
    })
    return (await Promise.race([answer, closed]))?.trim() ?? null
  }
}

async function send(
  project: WatchedProject,
  { subject, verdict: action, text, json }: ReviewArguments,
  { shown, content }: { readonly shown: ReviewAnswer; readonly content: string },
): Promise<void> {
  const command = commandOf(subject)
  const { drafts } = await project.ask('review_show', subject)
  if (action !== 'approve' && drafts.length === 0 && text === undefined) {
    throw new Failure('INVALID_INPUT', 'There is nothing to send: no comment and no text.', {
      reason: 'review_empty',
      hint: `Pass --text "…", or write comments first: ${command} --write`,
    })
  }
  const sent = await project.ask('review_send', {
    subject,
    action,
    content,
    // Words alone are no verdict: the work is still to be looked at.
    viewed: action !== 'comment',
    ...(text !== undefined && { text }),
  })
  if (json) return printJson(sent)
  const said = {
    approve: 'since' in subject ? 'All looked at' : 'Approved',
    send_back: 'Sent back',
    comment: 'Sent',
  }[sent.action]
  const isLookedAt = action !== 'comment' && shown.totals.files > 0 && !('since' in subject)
  print(
    [
      `${said}${sent.comments === 0 ? '' : ` with ${formatCount(sent.comments, 'comment')}`} (${sent.review_id}).`,
      ...sent.reopened.map((id) => `Task ${id} goes back to do.`),
      ...sent.closed_items.map((id) => `Inbox item ${id} is answered.`),
      ...sent.runs.map(({ run_id, state }) => `Run ${run_id} is in "${state}".`),
      ...sent.notes,
      ...(isLookedAt
        ? [
            `Its files are marked as viewed. See the whole diff again: ${command} --again. Comment on it: ${command} --again --write`,
          ]
        : []),
      '',
    ].join('\n'),
  )
}

async function writeComments(
  project: WatchedProject,
  asked: ReviewArguments,
  shown: ReviewAnswer,
): Promise<void> {
  const { subject, file, json, verdict } = asked
  const files = await quotedFiles(project, asked, shown)
  const own = file ?? (await editInEditor(quotedDiff(files)))
  const kept: ReviewDraftRow[] = []
  try {
    for (const comment of parseComments(wordsIn(own), files)) {
      kept.push(
        await project.ask('review_comment', {
          subject,
          ...(comment.file && { path: comment.file.path }),
          ...(comment.file?.tree && { tree: comment.file.tree }),
          ...(comment.line !== null && { line: comment.line, side: comment.side }),
          ...(comment.quoted && { quoted: comment.quoted }),
          kind: comment.kind,
          text: comment.text,
        }),
      )
    }
  } catch (error) {
    // All of it, or nothing: handed in again, it would be there twice.
    for (const { comment_id } of kept) await project.ask('review_comment_drop', { comment_id })
    throw file === undefined && error instanceof Failure ? addKeptFileHint(error, own) : error
  }
  if (file === undefined) rmSync(dirname(own), { recursive: true, force: true })
  if (verdict !== null) return
  if (json) return printJson({ comments: kept })
  const { drafts: all } = await project.ask('review_show', subject)
  const command = commandOf(subject)
  print(
    kept.length === 0
      ? 'You wrote no comment, so nothing is kept.\n'
      : [
          `${formatCount(kept.length, 'comment')} kept${all.length > kept.length ? `, ${all.length} in all` : ''}; only you see them until you send your review:`,
          ...all.map((draft) => `  ${draftLine(draft)}`),
          `Send them: ${command} --send-back, --approve or --comment, with --content ${shown.content.slice(0, 12)}. Remove one: ${command} --drop <comment>, or all of them: --drop all.`,
          '',
        ].join('\n'),
  )
}

type ReviewDraftRow = ReviewAnswer['drafts'][number]

function wordsIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('INVALID_INPUT', `${file} cannot be read: ${messageOf(error)}`, {
      reason: 'file_unreadable',
      cause: error,
    })
  }
}

/** The refusal, with where the words are that a person wrote. */
function addKeptFileHint({ code, message, reason, hint = '', fix, details }: Failure, file: string): Failure {
  return new Failure(code, message, {
    ...(reason !== null && { reason }),
    ...(fix !== null && { fix }),
    ...(details && { details }),
    hint: `${hint} Your text is in ${file}, and is not sent. Correct it there, then pass it with --from ${file}.`.trim(),
  })
}

/** The file that a person wrote in. It is theirs until what is in it is kept. */
async function editInEditor(text: string): Promise<string> {
  const editor = [process.env['VISUAL'], process.env['EDITOR']].find((one) => one?.trim())
  if (editor === undefined) {
    throw new Failure('UNAVAILABLE', 'No editor is set: EDITOR is empty.', {
      reason: 'no_editor',
      hint: 'Set EDITOR, or pass a file with --from <file>.',
    })
  }
  const folder = mkdtempSync(join(tmpdir(), 'waymark-review-'))
  const file = join(folder, 'REVIEW.diff')
  writeFileSync(file, text, { mode: 0o600 })
  const [code] = await withoutInterrupt(() => {
    const child = spawn(`${editor} "$WAYMARK_REVIEW_FILE"`, {
      shell: true,
      stdio: 'inherit',
      signal: processEnd,
      env: { ...process.env, WAYMARK_REVIEW_FILE: file },
    })
    return once(child, 'exit')
  })
  if (code !== 0) {
    throw new Failure('UNAVAILABLE', `${editor} ended with ${String(code)}: nothing was sent.`, {
      reason: 'editor_failed',
      hint: `Your text is in ${file}. Pass it with --from ${file}.`,
    })
  }
  return file
}

const maxFiles = 200

/** The files with their lines; folded ones by a sentence. */
async function quotedFiles(
  project: WatchedProject,
  { subject, again }: Pick<ReviewArguments, 'subject' | 'again'>,
  shown: ReviewAnswer,
): Promise<readonly QuotedFile[]> {
  const files: QuotedFile[] = []
  for (const file of shown.files) {
    const { path, tree, viewed } = file
    const why =
      files.length < maxFiles ? foldReasonOf(file, again) : `only the first ${maxFiles} files are shown here`
    const asked = {
      subject,
      path,
      ...(tree !== null && { tree }),
      ...(viewed !== null && !viewed.current && !again && { since: viewed.content }),
    }
    const hunks: ReviewHunks[number][] = []
    let error = why
    for (let cursor: string | null = why === null ? '' : null; cursor !== null; ) {
      const from = cursor === '' ? {} : { cursor }
      const part: OutputOf<'review_file'> = await project.ask('review_file', { ...asked, ...from })
      hunks.push(...part.hunks)
      error = part.error
      cursor = part.next_cursor
    }
    files.push({ path, tree, hunks, error })
  }
  return files
}

type ReviewHunks = OutputOf<'review_file'>['hunks']

/** Why the lines of a file are not shown; null where they are. */
function foldReasonOf(
  { error, viewed, folded, kind }: ReviewAnswer['files'][number],
  again: boolean,
): string | null {
  if (error !== null) return error
  if (viewed?.current && !again) return 'viewed'
  return folded ?? (kind === 'text' || kind === 'link' ? null : kind)
}

function summary(shown: ReviewAnswer): string {
  const { subject, files, comments, drafts, reviews, waiting, may, notes } = shown
  const last = reviews.at(-1)
  // What was done before somebody last spoke was seen then.
  const recent = comments.filter(
    ({ status, replies }) =>
      status !== 'done' ||
      last === undefined ||
      replies.some(({ created_at: createdAt }) => createdAt > last.created_at),
  )
  const done = comments.length - recent.length
  const listed = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [heading, ...lines.map((line) => indentText(line))]
  return [
    headOf(shown),
    ...files.map((file) => `  ${fileLine(file)}`),
    ...listed('Comments:', recent.map(commentText)),
    ...(done === 0
      ? []
      : [
          `${formatCount(done, 'comment')} done before the last review: waymark review comments ${subject.task_id ?? subject.mission_id ?? '<task>'} shows ${done === 1 ? 'it' : 'them'}.`,
        ]),
    ...listed('Your unsent comments (--drop <comment> deletes one):', drafts.map(draftLine)),
    ...waiting.map(({ item_id, kind, reason }) => `  waits: ${item_id} (${kind}): ${reason}`),
    ...(may.why === null ? [] : [may.why]),
    ...notes,
    '',
  ].join('\n')
}

function plainDiff(files: readonly QuotedFile[]): string {
  return files
    .flatMap(({ path, hunks, error }) => [
      `=== ${escapeLineBreaks(path)}${error === null ? '' : ` (${error})`}`,
      ...hunks.flatMap(({ lines }) => ['...', ...lines.map(({ kind, text }) => `${kind}${text}`)]),
    ])
    .concat('')
    .join('\n')
}

// What a shell says of a program that is not there.
const notFound = 127

/** Through the pager of a person; as it is where nobody reads at a screen. */
async function page(text: string): Promise<void> {
  const pager = process.env['PAGER'] ?? 'less -FRX'
  if (!processTerminal().interactive || pager.trim() === '') return print(text)
  const [code] = await withoutInterrupt(() => {
    const child = spawn(pager, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      signal: processEnd,
    })
    child.stdin.on('error', () => undefined) // it was left before the end
    child.stdin.end(withoutControlCodes(text))
    return once(child, 'exit')
  })
  if (code === notFound) print(text)
}
