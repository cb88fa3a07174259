import type { Coloured } from '../../geometry/line-parts.ts'
import { coloursOf, languageOf } from './syntax.ts'

/** Texts of one file, each as its lines. */
export interface ColouringAsked {
  readonly id: number
  readonly path: string
  readonly texts: readonly (readonly string[])[]
}

/** The colours of each line of each text; null for a text that has none. */
export interface ColouringDone {
  readonly id: number
  readonly colours: readonly (readonly (readonly Coloured[])[] | null)[]
}

addEventListener('message', ({ data }: MessageEvent<ColouringAsked>) => {
  const { id, path, texts } = data
  const language = languageOf(path)
  const colours = texts.map((lines) => (language === null ? null : coloursOf(lines, language)))
  postMessage({ id, colours } satisfies ColouringDone)
})
