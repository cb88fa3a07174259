import type { z } from 'zod'
import type { FileState } from '../../git/ports/work-tree.ts'
import type { Briefs, MeasurementValues } from '../../kernel/operations/measurement-protocol.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { DraftComment } from '../domain/review.ts'
import type { PlaceNow } from './entries.ts'
import {
  contentsBrief,
  type GatherContext,
  isHere,
  knownContents,
  placesOfContents,
  type ReviewedFile,
} from './gather.ts'
import { commentLines, fileContents, lineNow } from './measure-files.ts'

type CurrentCommentAnchor = z.output<typeof PlaceNow>

/** A comment with its file, and the file's state on the comment's side. */
interface AnchoredComment<Comment extends DraftComment = DraftComment> {
  readonly comment: Comment
  readonly file: ReviewedFile | undefined
  readonly state: FileState | null
}

export const commentMeasurements = { lines: commentLines, contents: fileContents }

export function anchorComments<Comment extends DraftComment>(
  comments: readonly Comment[],
  files: readonly ReviewedFile[],
): readonly AnchoredComment<Comment>[] {
  return comments.map((comment) => {
    const file = fileOf(comment, files)
    return { comment, file, state: (comment.side === 'old' ? file?.before : file?.after) ?? null }
  })
}

function fileOf({ path, tree }: DraftComment, files: readonly ReviewedFile[]): ReviewedFile | undefined {
  if (path === null) return undefined
  const ofTree = files.filter((file) => tree === null || file.tree === null || file.tree === tree)
  return (
    ofTree.find((file) => file.path === path) ??
    ofTree.find((file) => file.touched.steps.some((step) => step.path === path || step.from === path))
  )
}

/**
 * The measurements that locate lines: on the caller's machine for its own files; for others, the contents that it has.
 * `others` are further contents to read.
 */
export function linesBriefs(
  context: GatherContext,
  comments: readonly AnchoredComment[],
  others: { readonly files: readonly ReviewedFile[]; readonly ids: readonly string[] } = {
    files: [],
    ids: [],
  },
): Briefs<typeof commentMeasurements> {
  const moved = comments.flatMap((one) => {
    const { comment, file, state } = one
    const { id, line, content, quoted, side } = comment
    if (file === undefined || line === null || state?.id == null || state.id === content) return []
    const { before, from, after, path } = file.touched
    const [place, name] = side === 'old' ? [before, from] : [after, path]
    return [{ file, ids: [content, state.id], request: { id, place, path: name, line, content, quoted } }]
  })
  const here = moved.filter(({ request }) => isHere(context, request.place))
  const elsewhere = moved.filter(({ request }) => !isHere(context, request.place))
  const places = placesOfContents(here.map(({ file }) => file)).filter((place) => isHere(context, place))
  return {
    ...(here.length > 0 && { lines: { places, comments: here.map(({ request }) => request) } }),
    contents: contentsBrief(
      context,
      [...others.files, ...elsewhere.map(({ file }) => file)],
      [...others.ids, ...elsewhere.flatMap(({ ids }) => ids)],
    ),
  }
}

/** The current locations of comments, in their order. */
export async function currentPlaces(
  reads: Reads,
  comments: readonly AnchoredComment[],
  measured: MeasurementValues<typeof commentMeasurements>,
): Promise<readonly CurrentCommentAnchor[]> {
  const measuredLines = new Map(measured.lines?.map(({ id, ...now }) => [id, now]))
  const open = comments.filter(({ comment, file }) => file !== undefined && !measuredLines.has(comment.id))
  const contents = await knownContents(
    reads,
    measured,
    open.flatMap(({ comment, state }) =>
      comment.line === null || state?.id === comment.content ? [] : [comment.content, state?.id],
    ),
  )
  return comments.map(({ comment, file, state }) => {
    const { id, path, line, content, quoted } = comment
    if (path === null || line === null) return { path: file?.path ?? path, line: null, line_is: null }
    if (file === undefined || state === null) return { path, line: null, line_is: 'gone' }
    return {
      path: file.path,
      ...(measuredLines.get(id) ?? lineNow({ line, content, quoted }, state, contents)),
    }
  })
}
