import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { shownKind } from '../domain/files.ts'
import { sides } from '../domain/review.ts'
import { findFile, pathField, treeField } from './file.ts'
import { readContents } from './gather.ts'
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

/** Bytes of an image that is still sent. */
const largestImage = 5_000_000

export const reviewImage = defineOperation({
  name: 'review_image',
  command: 'review image',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'An image under review',
  description: 'As it was before the work or is now, for a picture beside the other; up to 5 MB.',
  kind: 'query',
  input: z.strictObject({
    subject: subjectField,
    path: pathField,
    tree: treeField,
    side: z.enum(sides).describe('As it was (old) or is (new)'),
  }),
  output: z.object({
    path: z.string(),
    /** The id of its content. */
    id: z.string(),
    type: z.string(),
    size: z.int(),
    base64: z.string(),
  }),
}).handler(async (handling, input) => {
  const { file } = await findFile(handling, input)
  const state = input.side === 'old' ? file.before : file.after
  const name = input.side === 'old' ? (file.from ?? file.path) : file.path
  const id = state?.id ?? null
  const found =
    id === null ? undefined : (await readContents(handling, [file.touched], [id], largestImage)).get(id)
  if (state === null || id === null || found === undefined) {
    throw new Failure('UNAVAILABLE', `"${name}" has no content on the ${input.side} side that is kept.`, {
      reason: 'content_unavailable',
      hint: hintOf`${callTo('review_show')} tells what is known of it.`,
    })
  }
  if (found.bytes === null) {
    throw new Failure('UNAVAILABLE', `"${name}" is too large to be shown: ${found.size} bytes.`, {
      reason: 'image_too_large',
      hint: `Images of up to ${largestImage} bytes are shown.`,
    })
  }
  const type = types[name.slice(name.lastIndexOf('.') + 1).toLowerCase() as keyof typeof types]
  if (type === undefined || shownKind(name, { modes: [state.mode], starts: [found.bytes] }) !== 'image') {
    throw new Failure('INVALID_INPUT', `"${name}" is no image that is shown.`, {
      reason: 'image_type_unsupported',
      hint: `Shown are ${Object.keys(types).join(', ')}.`,
    })
  }
  return { path: name, id, type, size: found.size, base64: base64Of(found.bytes) }
})

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 30_000)
    text += String.fromCharCode(...bytes.subarray(at, at + 30_000))
  return btoa(text)
}
