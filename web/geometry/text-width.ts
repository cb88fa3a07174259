/** Widths of characters in a system font, in hundredths of its size; rather too wide than too narrow. */
const narrow = new Set("iIl.,:;'|!()[]{}`ftrj ")
const wide = new Set('mwMW@%—…')

/** An estimate that needs no canvas: enough to decide what fits. */
export function textWidth(text: string, size = 13): number {
  let hundredths = 0
  for (const character of text) hundredths += characterWidth(character)
  return (hundredths * size) / 100
}

/** Of a fixed-width font. */
export function monoWidth(text: string, size = 12): number {
  return lettersOf(text).length * size * 0.61
}

function characterWidth(character: string): number {
  if (narrow.has(character)) return 36
  if (wide.has(character)) return 98
  const code = character.codePointAt(0) ?? 0
  if (code > 0x2e80) return 105
  return code >= 65 && code <= 90 ? 72 : 60
}

const segmenter = new Intl.Segmenter()

/** As a reader counts them: an emoji made of several code points is one. */
function lettersOf(text: string): readonly string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}
