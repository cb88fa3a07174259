import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import { isToReview } from '../inbox/domain/inbox-item.ts'
import { Failure, messageOf } from '../kernel/failure.ts'
import type { OutputOf } from '../kernel/operations/catalog.ts'
import { processEnd } from '../kernel/process-end.ts'
import { quoteShellWord } from '../kernel/shell-word.ts'
import { formatCount } from '../kernel/text.ts'
import {
  commentText,
  draftLine,
  fileLine,
  reviewHeading,
  unchangedSinceViewed,
  waitingLine,
} from '../review/cli/review.ts'
import { parseComments, type QuotedFile, quotedDiff } from '../review/domain/editor-comments.ts'
import { type ReviewAction, reviewActions } from '../review/domain/review.ts'
import { indentText } from '../surfaces/cli/render/parts.ts'
import { shortRunIds } from '../surfaces/cli/render/run-ids.ts'
import { escapeLineBreaks } from '../surfaces/cli/render/text.ts'
import {
  print,
  printableJson,
  printError,
  processTerminal,
  screenStreams,
  withoutControlCodes,
} from '../surfaces/cli/terminal.ts'
import { idOfTitle } from '../surfaces/cli/titles.ts'
import { withoutInterrupt } from './process.ts'
import { commandLineActor } from './settings/actor.ts'
import { userName } from './settings/environment.ts'
import { isJsonRequested, readWords } from './settings/flags.ts'
import { openWatchedProject, type WatchedProject } from './watched-project.ts'

type ReviewAnswer = OutputOf<'review_show'>
type ReviewTarget = { readonly task: string } | { readonly mission: string } | { readonly since: true }

interface ReviewArguments {
  readonly subject: ReviewTarget
  readonly action: ReviewAction | null
  readonly text: string | undefined
  readonly content: string | undefined
  readonly write: boolean
  readonly file: string | undefined
  /** Unsent comments to remove: their ids, or `all`. */
  readonly dropped: readonly string[]
  /** Also shows the files that the reader has viewed. */
  readonly again: boolean
  readonly json: boolean
}

/** `waymark review`: the waiting work, its diff, comments in an editor, and the decision. */
export async function review(words: readonly string[]): Promise<void> {
  const read = readWords('review', words)
  const [id, said, odd] = read.positionals
  const flagged = reviewActions.filter((action) => read.has(action.replace('_', '-')))
  // With an action the words may follow it: --send-back "<words>".
  const second = flagged.length === 0 || read.has('text') ? said : odd
  if (second !== undefined)
    throw read.flagFailure(`review takes one task or mission, not "${second}" as well.`)
  if (flagged.length > 1)
    throw read.flagFailure('A review has one action: --approve, --send-back or --comment.')
  const [action = null] = flagged
  const project = await openWatchedProject(read.text('project'), (sentence) =>
    printError(`waymark: ${sentence}\n`),
  )
  try {
    const json = isJsonRequested(read)
    const dropped = read.texts('drop')
    if (id === undefined && !read.has('since')) {
      const acting = [...reviewActions.map((one) => one.replace('_', '-')), 'write', 'from', 'drop', 'again']
      const without = acting.find((flag) => read.has(flag))
      if (without !== undefined) throw read.flagFailure(`--${without} needs a task or a mission, or --since.`)
      return await listWaiting(project, json)
    }
    if (id !== undefined && read.has('since')) {
      throw read.flagFailure(`Review either ${id}, or all new work with --since.`)
    }
    const options: ReviewArguments = {
      subject: await subjectOf(project, id),
      action,
      text: read.text('text') ?? said,
      content: read.text('content'),
      write: read.has('write'),
      file: read.text('from'),
      dropped,
      again: read.has('again'),
      json,
    }
    assertPerson(options)
    await reviewOne(project, options)
  } finally {
    await project.close()
  }
}

/** The work that a title or an id names; an inbox item, an attempt and an issue name their task. */
async function subjectOf(project: WatchedProject, named: string | undefined): Promise<ReviewTarget> {
  if (named === undefined) return { since: true }
  const kinds = ['tasks', 'missions'] as const
  const id = await idOfTitle(named, { kinds, isWhole: false }, (words) => project.ask('search', { words }))
  if (/^[mw]-/.test(id)) return { mission: id }
  if (!/^[ahi]-/.test(id)) return { task: id }
  const shown = await project.ask('show', { id })
  return shown.kind === 'task' ? { task: shown.id } : { mission: id }
}

/** Refuses an agent, like every other decision of people. */
function assertPerson({ action, write, file, dropped }: ReviewArguments): void {
  const actor = commandLineActor(process.env, userName())
  const isReading = action === null && !write && file === undefined && dropped.length === 0
  if (actor.kind === 'person' || isReading) return
  throw new Failure('FORBIDDEN', `Only people write reviews. ${actor.name} is an agent.`, {
    reason: 'person_needed',
    hint: 'Answer comments with waymark review reply <comment> "<text>", or the tool reply_to_review.',
  })
}

async function listWaiting(project: WatchedProject, json: boolean): Promise<void> {
  const { items, total } = await project.ask('inbox', { limit: 200 })
  const since = await project.ask('review_show', { since: true })
  const about = items.filter(({ kind }) => isToReview(kind))
  const subjects = Map.groupBy(about, (item) => item.task_id ?? item.mission_id ?? item.item_id)
  if (json) return printJson({ waiting: about, since })
  const lines = [...subjects].map(
    ([id, waiting]) =>
      `${waiting[0]?.task_name ?? waiting[0]?.mission_name ?? ''}  ${[...new Set(waiting.map(({ kind }) => kind))].join(', ')}  waymark review ${id}`,
  )
  print(
    [
      ...(lines.length === 0 ? ['Nothing needs a review.'] : lines),
      ...(total > items.length ? [`${total - items.length} more: waymark inbox.`] : []),
      ...(since.totals.files === 0
        ? []
        : [
            `New since your last review: ${formatCount(since.totals.files, 'file')}, +${since.totals.added} -${since.totals.removed}: waymark review --since`,
          ]),
      '',
    ].join('\n'),
  )
}

async function reviewOne(project: WatchedProject, options: ReviewArguments): Promise<void> {
  if (options.dropped.length > 0) await dropDrafts(project, options)
  const work = await project.ask('review_show', options.subject)
  const isWritten = options.write || options.file !== undefined
  // An editor shows the version, and a person at a terminal is asked below it.
  const isShown = options.action === null || options.write
  const content = options.content ?? (isShown ? work.content : await confirmedContent(project, options, work))
  if (content === null) return print('Nothing was sent.\n')
  if (isWritten) await writeComments(project, options, work)
  if (options.action !== null) return send(project, options, content)
  if (isWritten) return
  if (options.dropped.length > 0) return
  if (options.json) return printJson(work)
  const files = await quotedFiles(project, options, work)
  const streams = screenStreams()
  const next = streams === null ? `\n${formatNextSteps(options.subject, work)}\n` : ''
  await page(`${summary(work, options)}\n${plainDiff(files)}${next}`)
  if (streams !== null) await decideAfterReview(project, options, { work, streams })
}

function printJson(value: object): void {
  print(`${printableJson(JSON.stringify(value, null, processTerminal().interactive ? 2 : 0))}\n`)
}

/** The command line of this review. */
function commandOf(subject: ReviewTarget): string {
  return `waymark review ${'task' in subject ? subject.task : 'mission' in subject ? subject.mission : '--since'}`
}

function formatNextSteps(subject: ReviewTarget, { content, files, may, reviews }: ReviewAnswer): string {
  const command = commandOf(subject)
  const last = reviews.at(-1)
  const isApproved = last?.action === 'approve' && last.current !== false
  return [
    ...(isApproved ? [`${escapeLineBreaks(last.author)} approved this.`] : []),
    `Comment on it: ${command} --write`,
    ...(files.some(({ viewed }) => viewed !== null) ? [`Show the whole diff: ${command} --again`] : []),
    ...(may.decide
      ? [
          `Approve: ${command} --approve --content ${content.slice(0, 12)}`,
          `Send back: ${command} --send-back "<what to change>" --content ${content.slice(0, 12)}`,
        ]
      : []),
  ].join('\n')
}

/** Removes unsent comments: all of this review, or the named ones. */
async function dropDrafts(
  project: WatchedProject,
  { subject, dropped, json }: ReviewArguments,
): Promise<void> {
  const { drafts } = await project.ask('review_show', subject)
  const ids = dropped.includes('all') ? drafts.map(({ comment_id }) => comment_id) : dropped
  for (const id of ids) await project.ask('review_comment_drop', { comment_id: id })
  if (!json) print(`${formatCount(ids.length, 'comment')} removed.\n`)
}

/** Shows the work to a person and asks. Null: they said no. Without a terminal the content must be named. */
async function confirmedContent(
  project: WatchedProject,
  options: ReviewArguments,
  work: ReviewAnswer,
): Promise<string | null> {
  const streams = screenStreams()
  if (streams === null || options.json || options.action === null) throw missingContentFailure(options, work)
  await page(`${summary(work, options)}\n${plainDiff(await quotedFiles(project, options, work))}\n`)
  const question = { approve: 'Approve this?', send_back: 'Send this back?', comment: 'Send the comments?' }
  const lines = createInterface({ input: streams.stdin, output: streams.stdout })
  try {
    const answer = await questionReader(lines)(`${question[options.action]} [y/N] `)
    return /^y(?:es)?$/i.test(answer ?? '') ? work.content : null
  } finally {
    lines.close()
  }
}

/** A decision without a view of the diff must name its content. */
function missingContentFailure(
  { subject, action, text }: Pick<ReviewArguments, 'subject' | 'action' | 'text'>,
  { content }: ReviewAnswer,
): Failure {
  const command = commandOf(subject)
  const words = text === undefined ? '' : ` --text ${quoteShellWord(text)}`
  return new Failure('INVALID_INPUT', 'Pass --content to confirm the version you reviewed.', {
    reason: 'content_needed',
    hint: [
      `Review it: ${command}`,
      `Then: ${command} --${(action ?? 'approve').replace('_', '-')}${words} --content ${content.slice(0, 12)}`,
    ].join('\n'),
  })
}

async function decideAfterReview(
  project: WatchedProject,
  options: ReviewArguments,
  {
    work,
    streams,
  }: { readonly work: ReviewAnswer; readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout'> },
): Promise<void> {
  const lines = createInterface({ input: streams.stdin, output: streams.stdout })
  const ask = questionReader(lines)
  let { again } = options
  try {
    for (;;) {
      const answer = await ask(
        '[w]rite comments, [l]ist all files again, [a]pprove, [s]end back, [c]omment, [q]uit: ',
      )
      if (answer === null) return print('\nNothing was sent.\n')
      if (answer === '' || answer.startsWith('q')) return
      if (answer.startsWith('w') || answer.startsWith('l')) {
        again ||= answer.startsWith('l')
        lines.pause()
        if (answer.startsWith('w')) await writeComments(project, { ...options, again }, work)
        else await page(plainDiff(await quotedFiles(project, { ...options, again }, work)))
        lines.resume()
        continue
      }
      const action = ({ a: 'approve', s: 'send_back', c: 'comment' } as const)[answer[0] as 'a' | 's' | 'c']
      if (action === undefined) continue
      const text = await ask('Text (optional): ')
      if (text === null) return print('\nNothing was sent.\n')
      const words = text === '' ? undefined : text
      return await send(project, { ...options, action, text: words }, work.content)
    }
  } finally {
    lines.close()
  }
}

/** Asks a person. Null if they leave with Ctrl-C or Ctrl-D. */
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
  { subject, action, text, json }: ReviewArguments,
  content: string,
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
    // A comment is no decision: the work still needs a review.
    viewed: action !== 'comment',
    ...(text !== undefined && { text }),
  })
  if (json) return printJson(sent)
  const outcome = {
    approve: 'since' in subject ? 'Reviewed all' : 'Approved',
    send_back: 'Sent back',
    comment: 'Sent',
  }[sent.action]
  print(
    [
      `${outcome}${sent.comments === 0 ? '' : ` with ${formatCount(sent.comments, 'comment')}`} (${sent.review_id}).`,
      ...sent.reopened.map((id) => `Task ${id} is to do again.`),
      ...sent.closed_items.map((id) => `Inbox item ${id} is answered.`),
      ...sent.runs.map(({ run_id, state }) => shortRunIds(`Run ${run_id} is in "${state}".`)),
      ...sent.notes,
      ...(action === 'send_back'
        ? ['The agent gets it when it next asks for work. If it has stopped, tell it to go on.']
        : []),
      '',
    ].join('\n'),
  )
}

async function writeComments(
  project: WatchedProject,
  options: ReviewArguments,
  work: ReviewAnswer,
): Promise<void> {
  const { subject, file, json, action } = options
  const files = await quotedFiles(project, options, work)
  const own = file ?? (await editInEditor(quotedDiff(files)))
  const saved: ReviewDraftRow[] = []
  try {
    for (const comment of parseComments(readComments(own), files)) {
      saved.push(
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
    // All or nothing: otherwise a second try would duplicate comments.
    for (const { comment_id } of saved) await project.ask('review_comment_drop', { comment_id })
    throw file === undefined && error instanceof Failure ? addKeptFileHint(error, own) : error
  }
  if (file === undefined) rmSync(dirname(own), { recursive: true, force: true })
  if (action !== null) return
  if (json) return printJson({ comments: saved })
  const { drafts: all } = await project.ask('review_show', subject)
  const command = commandOf(subject)
  print(
    saved.length === 0
      ? 'You wrote no comment, so nothing is kept.\n'
      : [
          `${formatCount(saved.length, 'comment')} kept${all.length > saved.length ? `, ${all.length} in all` : ''}; only you see them until you send your review:`,
          ...all.map((draft) => `  ${draftLine(draft)}`),
          `Send them: ${command} --send-back --content ${work.content.slice(0, 12)} (or --approve, --comment)`,
          `Remove one: ${command} --drop <comment>, or all of them: --drop all`,
          '',
        ].join('\n'),
  )
}

type ReviewDraftRow = ReviewAnswer['drafts'][number]

function readComments(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('INVALID_INPUT', `${file} cannot be read: ${messageOf(error)}`, {
      reason: 'file_unreadable',
      cause: error,
    })
  }
}

/** Adds to a failure where the person's text is. */
function addKeptFileHint({ code, message, reason, hint = '', fix, details }: Failure, file: string): Failure {
  return new Failure(code, message, {
    ...(reason !== null && { reason }),
    ...(fix !== null && { fix }),
    ...(details && { details }),
    hint: `${hint} Your text is in ${file}, and is not sent. Correct it there, then pass it with --from ${file}.`.trim(),
  })
}

/** Returns the file that a person wrote. It stays until its comments are recorded. */
async function editInEditor(text: string): Promise<string> {
  const editor = [process.env['VISUAL'], process.env['EDITOR']].find((one) => one?.trim())
  if (editor === undefined) {
    throw new Failure('UNAVAILABLE', 'No editor is set: EDITOR is empty.', {
      reason: 'no_editor',
      hint: 'Set EDITOR, or comment without one: --comment --text "<words>". --from <file> takes a file of "> " quotes with "? " or "! " comments below.',
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

/** The files with their lines; a folded file has a reason instead. */
async function quotedFiles(
  project: WatchedProject,
  { subject, again }: Pick<ReviewArguments, 'subject' | 'again'>,
  work: ReviewAnswer,
): Promise<readonly FileHunks[]> {
  const files: FileHunks[] = []
  for (const file of work.files) {
    const { path, tree, viewed } = file
    const why =
      files.length < maxFiles ? foldReasonOf(file, again) : `only the first ${maxFiles} files are shown here`
    const query = {
      subject,
      path,
      ...(tree !== null && { tree }),
      ...(isCutToNew(file, again) && { since: viewed?.content }),
    }
    const hunks: ReviewHunks[number][] = []
    let error = why
    for (let cursor: string | null = why === null ? '' : null; cursor !== null; ) {
      const from = cursor === '' ? {} : { cursor }
      const part: OutputOf<'review_file'> = await project.ask('review_file', { ...query, ...from })
      hunks.push(...part.hunks)
      error = part.error
      cursor = part.next_cursor
    }
    files.push({ path, tree, treeName: file.tree_name, hunks, error })
  }
  return files
}

/** Whether the reader has viewed a former content of a file: only the difference to that is shown. */
function isCutToNew({ viewed }: ReviewAnswer['files'][number], again: boolean): boolean {
  return viewed !== null && !viewed.current && !again
}

type ReviewHunks = OutputOf<'review_file'>['hunks']

interface FileHunks extends QuotedFile {
  readonly treeName: string | null
  readonly hunks: ReviewHunks
}

/** Why the lines of a file are hidden; null if they are visible. */
function foldReasonOf(
  { error, viewed, folded, kind }: ReviewAnswer['files'][number],
  again: boolean,
): string | null {
  if (error !== null) return error
  if (viewed?.current && !again) return `${unchangedSinceViewed}; --again shows it`
  return folded ?? (kind === 'text' || kind === 'link' ? null : kind)
}

function summary(work: ReviewAnswer, { subject: target, again }: ReviewArguments): string {
  const { subject, files, comments, drafts, reviews, waiting, may, notes } = work
  const last = reviews.at(-1)
  // The last review already covered comments that were done before it.
  const recent = comments.filter(
    ({ status, replies }) =>
      status !== 'done' ||
      last === undefined ||
      replies.some(({ created_at: createdAt }) => createdAt > last.created_at),
  )
  const done = comments.length - recent.length
  const section = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [heading, ...lines.map((line) => indentText(line))]
  return [
    reviewHeading(work, { ink: (_, text) => text }),
    ...files.map((file) => `  ${fileLine(file)}`),
    ...section('Comments:', recent.map(commentText)),
    ...(done === 0
      ? []
      : [
          `${formatCount(done, 'comment')} done before the last review: waymark review comments ${subject.task_id ?? subject.mission_id ?? '<task>'} shows ${done === 1 ? 'it' : 'them'}.`,
        ]),
    ...section('Your unsent comments (--drop <comment> deletes one):', drafts.map(draftLine)),
    ...section('Needs a person:', waiting.map(waitingLine)),
    ...(may.why === null ? [] : [may.why]),
    ...notes,
    ...(files.some((file) => isCutToNew(file, again))
      ? [`Only what changed since you looked; the whole diff: ${commandOf(target)} --again`]
      : []),
    '',
  ].join('\n')
}

function plainDiff(files: readonly FileHunks[]): string {
  return files
    .flatMap(({ path, treeName, hunks, error }) => [
      `=== ${escapeLineBreaks(path)}${treeName === null ? '' : ` in ${treeName}`}${error === null ? '' : ` (${error})`}`,
      ...hunks.flatMap(({ old_start: old, new_start: now, lines }) => [
        `@@ -${hunkRange(old, lines, '-')} +${hunkRange(now, lines, '+')} @@`,
        ...lines.map(({ kind, text }) => `${kind}${text}`),
      ]),
    ])
    .concat('')
    .join('\n')
}

/** The start and the number of lines of one side of a hunk, as git writes them. */
function hunkRange(start: number, lines: ReviewHunks[number]['lines'], changed: '+' | '-'): string {
  const count = lines.filter(({ kind }) => kind === ' ' || kind === changed).length
  if (count === 0) return '0,0'
  return count === 1 ? String(start) : `${start},${count}`
}

// The exit code of a shell for a missing program.
const notFound = 127

/** Prints through the person's pager; directly without a terminal. */
async function page(text: string): Promise<void> {
  const pager = process.env['PAGER'] ?? 'less -FRX'
  if (!processTerminal().interactive || pager.trim() === '') return print(text)
  const [code] = await withoutInterrupt(() => {
    const child = spawn(pager, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      signal: processEnd,
    })
    child.stdin.on('error', () => undefined) // the pager may end early
    child.stdin.end(withoutControlCodes(text))
    return once(child, 'exit')
  })
  if (code === notFound) print(text)
}
