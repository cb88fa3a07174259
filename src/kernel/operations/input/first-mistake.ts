import type { z } from 'zod'

/** The first mistake in words. An input may have as many mistakes as values. */
export function firstMistake({ issues: [first] }: z.ZodError): string {
  if (!first) return 'no mistake was named'
  const place = first.path.slice(0, 10).join('.').slice(0, 200)
  return `${place === '' ? '' : `${place}: `}${first.message.slice(0, 300)}`
}
