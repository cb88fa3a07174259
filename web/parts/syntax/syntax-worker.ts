import type { ColorRange } from '../../geometry/line-parts.ts'
import { languageOf, tokenColors } from './syntax.ts'

/** Texts of one file, each as its lines. */
export interface HighlightRequest {
  readonly id: number
  readonly path: string
  readonly texts: readonly (readonly string[])[]
}

/** The colours of each line of each text; null for a text that has none. */
export interface HighlightResult {
  readonly id: number
  readonly colours: readonly (readonly (readonly ColorRange[])[] | null)[]
}

addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, path, texts } = data
  const language = languageOf(path)
  const colours = texts.map((lines) => (language === null ? null : tokenColors(lines, language)))
  postMessage({ id, colours } satisfies HighlightResult)
})
