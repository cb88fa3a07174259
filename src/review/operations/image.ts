import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { displayKind } from '../domain/files.ts'
import { type DiffSide, sides } from '../domain/review.ts'
import { fileIn, gatherFile, namedFiles, pathField, treeField } from './file.ts'
import { contentsBrief, knownContents, materialMeasurements, type ReviewedFile } from './gather.ts'
import { fileContents, maxContentBytes } from './measure-files.ts'
import { base64Of } from './stored-content.ts'
import { subjectField } from './subject.ts'

const types = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
} as const

export const reviewImage = defineOperation({
  name: 'review_image',
  command: 'review image',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'Show an image under review',
  description: 'Get an image from before the work or as it is now, up to 5 MB.',
  kind: 'query',
  input: z.strictObject({
    subject: subjectField,
    path: pathField,
    tree: treeField,
    side: z.enum(sides).describe('Before the work (old) or now (new)'),
  }),
  output: z.object({
    path: z.string(),
    /** The id of its content. */
    id: z.string(),
    type: z.string(),
    size: z.int(),
    base64: z.string(),
  }),
})
  .measure({ ...materialMeasurements, contents: fileContents })
  .prepare(async (reads, input, context, measured) => {
    const { briefs, gathered } = await gatherFile(reads, context, { input, measured })
    const file = gathered && namedFiles(gathered, input)[0]
    if (!file) return { briefs, found: gathered }
    const { id } = imageState(file, input.side)
    return {
      briefs: { ...briefs, contents: contentsBrief(context, [file], [id], maxContentBytes) },
      found: gathered,
    }
  })
  .answer(async ({ reads, found: gathered, measured }, input) => {
    const { state, name, id } = imageState(fileIn(requireMeasured(gathered ?? undefined), input), input.side)
    const stored =
      id === null ? undefined : (await knownContents(reads, measured, [id], maxContentBytes)).get(id)
    if (state === null || id === null || stored === undefined) {
      throw new Failure('UNAVAILABLE', `No content of "${name}" is kept on the ${input.side} side.`, {
        reason: 'content_unavailable',
        hint: hintOf`${callTo('review_show')} shows what is recorded.`,
      })
    }
    if (stored.bytes === null) {
      throw new Failure('UNAVAILABLE', `"${name}" is too large to be shown: ${stored.size} bytes.`, {
        reason: 'image_too_large',
        hint: `At most ${maxContentBytes} bytes can be shown.`,
      })
    }
    const type = types[name.slice(name.lastIndexOf('.') + 1).toLowerCase() as keyof typeof types]
    if (
      type === undefined ||
      displayKind(name, { modes: [state.mode], starts: [stored.bytes] }) !== 'image'
    ) {
      throw new Failure('INVALID_INPUT', `"${name}" is not an image that can be shown.`, {
        reason: 'image_type_unsupported',
        hint: `Only ${Object.keys(types).join(', ')} can be shown.`,
      })
    }
    return { path: name, id, type, size: stored.size, base64: base64Of(stored.bytes) }
  })

function imageState(file: ReviewedFile, side: DiffSide) {
  const state = side === 'old' ? file.before : file.after
  return { state, name: side === 'old' ? (file.from ?? file.path) : file.path, id: state?.id ?? null }
}
