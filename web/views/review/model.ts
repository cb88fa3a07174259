import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { ApiFailure } from '../../../src/surfaces/http/client/client.ts'
import { call, errorText } from '../../api/call.ts'
import type {
  ReviewCommentData,
  ReviewData,
  ReviewDraft,
  ReviewedFileData,
  ReviewFileRow,
} from '../../api/entities.ts'
import type { Layout, ReviewHunk } from '../../geometry/review-rows.ts'
import { startQuery } from '../../live/query.ts'
import { showToast } from '../../shell/toasts.tsx'

export type ReviewSubjectInput =
  | { readonly task: string }
  | { readonly mission: string }
  | { readonly since: true }

/** The target of a comment: all changes, a file, or a line of a side. */
export interface CommentTarget {
  readonly file: ReviewFileRow | null
  readonly side: 'old' | 'new'
  readonly line: number | null
  readonly quoted: string | null
}

/** The lines of a file, as far as they were read. */
export type Lines =
  | { readonly is: 'reading' }
  | { readonly is: 'failed'; readonly why: string }
  | { readonly is: 'read'; readonly hunks: readonly ReviewHunk[]; readonly answer: ReviewedFileData }

/** What a file has a name of its own by, in a review of several work trees. */
export function fileKey({ path, tree }: Pick<ReviewFileRow, 'path' | 'tree'>): string {
  return tree === null ? path : `${tree} ${path}`
}

/** A preference of the person, kept in the browser. */
function persistedSignal<Value extends string>(
  name: string,
  values: readonly [Value, ...Value[]],
): Signal<Value> {
  const key = `waymark review ${name}`
  const read = () => {
    try {
      return values.find((value) => value === localStorage.getItem(key)) ?? values[0]
    } catch {
      return values[0]
    }
  }
  const of = signal<Value>(read())
  of.subscribe((value) => {
    try {
      localStorage.setItem(key, value)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  })
  return of
}

export const layout = persistedSignal<Layout>('layout', ['unified', 'split'])
export const space = persistedSignal('space', ['shown', 'hidden'])

/** At most so many files are read at once: the first ones come first. */
const atOnce = 3

/** The state of a review page. */
export function createReview(subject: ReviewSubjectInput) {
  const query = startQuery('review_show', subject)
  const data = signal<ReviewData | null>(null)
  /** The newer version, if it differs from the shown one. */
  const newer = signal<ReviewData | null>(null)
  const unfolded = signal<ReadonlyMap<string, boolean>>(new Map())
  const whole = signal<ReadonlySet<string>>(new Set())
  const fromStart = signal<ReadonlySet<string>>(new Set())
  /** The viewed marks of the person, until the server has them. */
  const marking = signal<ReadonlyMap<string, boolean>>(new Map())
  const composing = signal<CommentTarget | null>(null)
  const editing = signal<string | null>(null)
  const cursor = signal<{ readonly file: string; readonly row: string } | null>(null)
  const lines = new Map<string, Signal<Lines>>()
  const queue: (() => Promise<void>)[] = []
  let running = 0

  // The shown files do not change while they are read; their comments do.
  const stop = query.answer.subscribe((answer) => {
    if (answer === null) return
    const before = data.peek()
    batch(() => {
      // An answer may be older than a mark that was set meanwhile.
      marking.value = unsentMarks(marking.peek(), answer)
      if (before === null || changedPaths(before, answer).length === 0) {
        data.value = answer
        newer.value = null
      } else {
        data.value = withComments(before, answer)
        newer.value = answer
      }
    })
  })

  const pump = () => {
    while (running < atOnce) {
      const next = queue.shift()
      if (!next) return
      running += 1
      void next().finally(() => {
        running -= 1
        pump()
      })
    }
  }

  const requestOf = (file: ReviewFileRow) => {
    const key = fileKey(file)
    const wasViewed = file.viewed !== null && !file.viewed.current && !fromStart.value.has(key)
    return {
      since: wasViewed ? (file.viewed?.content ?? null) : null,
      whole: whole.value.has(key),
      ignoresSpace: space.value === 'hidden',
    }
  }

  /** The lines of a file with the current options. They load on first use. */
  const linesOf = (file: ReviewFileRow, isUrgent = false): ReadonlySignal<Lines> => {
    const request = requestOf(file)
    const key = JSON.stringify([fileKey(file), file.before, file.after, request])
    const cached = lines.get(key)
    if (cached) return cached
    const entry = signal<Lines>({ is: 'reading' })
    lines.set(key, entry)
    const read = () => readInto(entry, file, request)
    if (isUrgent) void read()
    else queue.push(read)
    pump()
    return entry
  }

  const readInto = async (
    into: Signal<Lines>,
    file: ReviewFileRow,
    request: ReturnType<typeof requestOf>,
  ) => {
    const before = into.peek()
    const cursor = before.is === 'read' ? before.answer.next_cursor : null
    try {
      const answer = await call('review_file', {
        subject,
        path: file.path,
        ...(file.tree !== null && { tree: file.tree }),
        ...(request.since !== null && { since: request.since }),
        ...(request.whole && { whole: true }),
        ...(request.ignoresSpace && { ignore_space: true }),
        ...(cursor !== null && { cursor }),
      })
      const hunks = before.is === 'read' ? [...before.hunks, ...answer.hunks] : answer.hunks
      into.value = { is: 'read', hunks, answer }
    } catch (error) {
      into.value = { is: 'failed', why: errorText(error) }
    }
  }

  const attempt = async (act: () => Promise<unknown>): Promise<boolean> => {
    try {
      await act()
      return true
    } catch (error) {
      showToast({ kind: 'refused', text: errorText(error) })
      return false
    } finally {
      query.refresh()
    }
  }

  const isViewed = (file: ReviewFileRow): boolean =>
    marking.value.get(fileKey(file)) ?? file.viewed?.current ?? false

  const isOpen = (file: ReviewFileRow): boolean =>
    unfolded.value.get(fileKey(file)) ?? (file.folded === null && !isViewed(file))

  return {
    subject,
    data,
    newer,
    failure: query.failure,
    composing,
    editing,
    cursor,
    whole,
    fromStart,
    linesOf,
    isViewed,
    isOpen,
    /** The paths that changed since the page was opened. */
    changedSince: computed(() => changedPaths(data.value, newer.value)),
    commentsOf: computed(() =>
      groupByFile(data.value?.comments ?? [], ({ now, tree }) => ({ path: now.path, tree })),
    ),
    draftsOf: computed(() => groupByFile(data.value?.drafts ?? [], ({ path, tree }) => ({ path, tree }))),
    showNewer: () => {
      if (newer.peek() === null) return
      batch(() => {
        data.value = newer.peek()
        newer.value = null
        marking.value = new Map()
      })
    },
    /** Reads the lines of a file before those of others. */
    readSoon: (file: ReviewFileRow) => {
      if (isOpen(file) && (file.kind === 'text' || file.kind === 'link')) linesOf(file, true)
    },
    readMore: (file: ReviewFileRow) => {
      const request = requestOf(file)
      const of = lines.get(JSON.stringify([fileKey(file), file.before, file.after, request]))
      if (of) void readInto(of, file, request)
    },
    toggle: (set: Signal<ReadonlySet<string>>, file: ReviewFileRow) => {
      const next = new Set(set.peek())
      if (!next.delete(fileKey(file))) next.add(fileKey(file))
      set.value = next
    },
    unfold: (file: ReviewFileRow, open: boolean) => {
      unfolded.value = new Map(unfolded.peek()).set(fileKey(file), open)
    },
    mark: (file: ReviewFileRow, viewed: boolean) => {
      const folds = new Map(unfolded.peek())
      folds.delete(fileKey(file))
      batch(() => {
        marking.value = new Map(marking.peek()).set(fileKey(file), viewed)
        unfolded.value = folds
      })
      return attempt(async () => {
        try {
          await call('review_mark', {
            subject,
            path: file.path,
            ...(file.tree !== null && { tree: file.tree }),
            content: file.after ?? '',
            viewed,
          })
        } catch (error) {
          const left = new Map(marking.peek())
          left.delete(fileKey(file))
          marking.value = left
          throw error
        }
      })
    },
    comment: ({ file, side, line, quoted }: CommentTarget, words: CommentText) =>
      attempt(() =>
        call('review_comment', {
          subject,
          ...(file !== null && { path: file.path }),
          ...(file !== null && file.tree !== null && { tree: file.tree }),
          ...(line !== null && { side, line }),
          ...(quoted !== null && quoted.trim() !== '' && quoted.length <= 300 && { quoted }),
          ...words,
        }),
      ),
    edit: (draft: ReviewDraft, words: CommentText) =>
      attempt(() => call('review_comment', { subject, comment_id: draft.comment_id, ...words })),
    drop: (draft: ReviewDraft) =>
      attempt(() => call('review_comment_drop', { comment_id: draft.comment_id })),
    answer: (comment: ReviewCommentData, text: string, done: boolean) =>
      attempt(() => call('reply_to_review', { comment_id: comment.comment_id, text, done })),
    /** Sends all drafts with an action for exactly the shown version. Returns the refusal, or null. */
    send: async (action: ReviewActionName, text: string, content: string): Promise<string | null> => {
      try {
        const sent = await call('review_send', {
          subject,
          action,
          content,
          ...(text !== '' && { text }),
        })
        const states = sent.runs.flatMap(({ state }) => (state === null ? [] : [`The run is in ${state}.`]))
        showToast({ kind: 'done', text: [sentTexts[action], ...states, ...sent.notes].join(' ') })
        return null
      } catch (error) {
        if (error instanceof ApiFailure) return errorText(error)
        throw error
      } finally {
        query.refresh()
      }
    },
    stop: () => {
      stop()
      query.stop()
    },
  }
}

export type ReviewModel = ReturnType<typeof createReview>
export type ReviewActionName = 'send_back' | 'approve' | 'comment'

export interface CommentText {
  readonly kind: 'question' | 'request'
  readonly text: string
}

const sentTexts = {
  approve: 'Approved.',
  send_back: 'Sent back.',
  comment: 'Comments sent.',
} as const satisfies Record<ReviewActionName, string>

/** The marks that an answer does not have yet. */
function unsentMarks(
  marking: ReadonlyMap<string, boolean>,
  { files }: ReviewData,
): ReadonlyMap<string, boolean> {
  const saved = new Map(files.map((file) => [fileKey(file), file.viewed?.current ?? false]))
  return new Map([...marking].filter(([key, viewed]) => saved.get(key) !== viewed))
}

/** The shown version with the newest comments. */
function withComments(
  before: ReviewData,
  { files, comments, drafts, reviews, decision, waiting }: ReviewData,
): ReviewData {
  const now = new Map(files.map((file) => [fileKey(file), file]))
  const places = new Map(before.comments.map((comment) => [comment.comment_id, comment.now]))
  return {
    ...before,
    files: before.files.map((file) => {
      const same = now.get(fileKey(file))
      return same?.after === file.after ? same : file
    }),
    // Their places are those in the shown lines.
    comments: comments.map((comment) => ({ ...comment, now: places.get(comment.comment_id) ?? comment.now })),
    drafts,
    reviews,
    decision,
    waiting,
  }
}

function changedPaths(before: ReviewData | null, after: ReviewData | null): readonly string[] {
  if (before === null || after === null) return []
  const versions = new Map(before.files.map((file) => [fileKey(file), file.after]))
  const changed = after.files
    .filter((file) => versions.get(fileKey(file)) !== file.after)
    .map(({ path }) => path)
  const left = new Set(after.files.map(fileKey))
  return [...changed, ...before.files.filter((file) => !left.has(fileKey(file))).map(({ path }) => path)]
}

/** By file; those on the whole under the empty key. Where a tree is not said, under the path alone. */
function groupByFile<Of>(
  all: readonly Of[],
  placeOf: (one: Of) => { readonly path: string | null; readonly tree: string | null },
): ReadonlyMap<string, readonly Of[]> {
  return Map.groupBy(all, (one) => {
    const { path, tree } = placeOf(one)
    return path === null ? '' : fileKey({ path, tree })
  })
}
