import { Failure } from '../../kernel/failure.ts'
import { invoke } from '../../kernel/operations/invoke.ts'
import { reviewImage } from '../../review/operations/image.ts'
import { requireAuth } from './auth/authenticate.ts'
import type { RequestContext } from './parts.ts'

/** A policy for an image alone: it can run and load nothing. */
const imageAlone = "default-src 'none'; sandbox"

/**
 * `GET /api/review/image?task=…&path=…&side=new`: an image under review. Only raster types are served, checked by name and
 * first bytes. The ETag is the id of its content. With `content`, another content is not found.
 */
export async function readReviewImage(c: RequestContext): Promise<Response> {
  const { actor } = requireAuth(c.var.caller)
  const { task, mission, since, path, side, tree, content } = c.req.query()
  const subject = {
    ...(task !== undefined && { task }),
    ...(mission !== undefined && { mission }),
    ...(since !== undefined && { since: since === 'true' }),
  }
  const input = { subject, path, side, ...(tree !== undefined && { tree }) }
  const answer = await invoke(reviewImage, c.var.project.contextOf(actor), input)
  const image = reviewImage.output.parse(answer)
  if (content !== undefined && content !== image.id) {
    throw new Failure('NOT_FOUND', `"${image.path}" has changed.`, {
      reason: 'content_changed',
      hint: 'Reload the review.',
    })
  }
  const etag = `"${image.id}"`
  c.set('policy', imageAlone)
  const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' }
  if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers)
  return c.body(Uint8Array.from(Buffer.from(image.base64, 'base64')), 200, {
    ...headers,
    'Content-Type': image.type,
  })
}
