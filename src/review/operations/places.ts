import type { z } from 'zod'
import type { FileState, StoredContent } from '../../git/ports/work-tree.ts'
import type { WorkTree } from '../../kernel/operations/measurement.ts'
import type { QueryContext } from '../../kernel/operations/operation.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { followLine, linesOf, uniqueLineIndex } from '../domain/lines.ts'
import type { DraftComment } from '../domain/review.ts'
import type { PlaceNow } from './entries.ts'
import { longestCompared, type ReviewedFile, readContents, textOf } from './gather.ts'

type CurrentCommentAnchor = z.output<typeof PlaceNow>

/** Where the lines of comments are now, in the order of the comments. */
export async function currentPlaces(
  context: QueryContext,
  comments: readonly DraftComment[],
  files: readonly ReviewedFile[],
): Promise<readonly CurrentCommentAnchor[]> {
  const about = comments.map((comment) => fileOf(comment, files))
  const moved = comments.flatMap(({ content, line, side }, at) => {
    const state = presentState(about[at], side)
    return line !== null && content !== null && state?.id != null && state.id !== content
      ? [{ file: about[at], ids: [content, state.id] }]
      : []
  })
  const touched = moved.flatMap(({ file }) => file?.touched ?? [])
  const contents = await readContents(
    context,
    touched,
    moved.flatMap(({ ids }) => ids),
  )
  return comments.map((comment, at) => currentPlaceOf(comment, about[at], contents))
}

function fileOf({ path, tree }: DraftComment, files: readonly ReviewedFile[]): ReviewedFile | undefined {
  if (path === null) return undefined
  const here = files.filter((file) => tree === null || file.tree === null || file.tree === tree)
  return (
    here.find((file) => file.path === path) ??
    here.find((file) => file.touched.by.some((step) => step.path === path || step.from === path))
  )
}

/** A comment on an old line stays at the old side, as long as that is the same. */
function presentState(file: ReviewedFile | undefined, side: DraftComment['side']): FileState | null {
  if (file === undefined) return null
  return side === 'old' ? file.before : file.after
}

function currentPlaceOf(
  comment: DraftComment,
  file: ReviewedFile | undefined,
  contents: ReadonlyMap<string, StoredContent>,
): CurrentCommentAnchor {
  const { path, line, side, content } = comment
  if (path === null || line === null) return { path: file?.path ?? path, line: null, line_is: null }
  const state = presentState(file, side)
  if (file === undefined || state === null) return { path, line: null, line_is: 'gone' }
  if (state.id === content) return { path: file.path, line, line_is: 'same' }
  return placedLine(comment, { path: file.path, state }, contents)
}

/** The line in another content: by the difference of both, or where the first is not kept by its words. */
function placedLine(
  { line, content, quoted }: CommentedLine,
  { path, state }: { readonly path: string; readonly state: FileState },
  contents: ReadonlyMap<string, StoredContent>,
): CurrentCommentAnchor {
  const to = linesOf(textOf(state, contents))
  const isKnown = content !== null && contents.get(content)?.bytes != null && state.id !== null
  if (!isKnown || line === null) {
    const only = quoted === null || quoted.trim() === '' ? null : uniqueLineIndex(quoted, to)
    return { path, line: only, line_is: only === null ? 'unknown' : 'moved' }
  }
  const from = linesOf(textOf({ id: content, mode: state.mode }, contents))
  const found = followLine(line, { from, to })
  return { path, line: found, line_is: found === null ? 'gone' : found === line ? 'same' : 'moved' }
}

type CommentedLine = Pick<DraftComment, 'path' | 'line' | 'content' | 'quoted' | 'side'>

/** Where the line of a comment is in one snapshot. */
export async function currentLine(
  { witness }: Pick<WorkTree, 'witness'>,
  comment: CommentedLine,
  place: SnapshotLocation,
): Promise<CurrentCommentAnchor> {
  const { path, content } = comment
  const unknown: CurrentCommentAnchor = { path, line: null, line_is: 'unknown' }
  if (path === null || content === null) return unknown
  const states = await witness.contents.states(place, [path])
  const state = states?.get(path)
  if (state === undefined) return unknown
  if (state === null) return { path, line: null, line_is: 'gone' }
  if (state.id === content) return { path, line: comment.line, line_is: 'same' }
  if (state.id === null) return unknown
  const contents = await witness.contents.read([place], [content, state.id], longestCompared)
  return placedLine(comment, { path, state }, contents)
}
