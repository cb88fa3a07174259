/** A name without invisible characters, in one spelling of its letters, quotes and spaces. */
export function plainName(text: string): string {
  return text
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?![\t\n\r])\p{Cc}/gu, '')
    .normalize('NFC')
    .replace(/[„“”«»「」『』＂]/gu, '"')
    .replace(/[‚‘’‹›＇]/gu, "'")
    .replace(/\p{Zs}/gu, ' ')
}

/** Letters that are written without spaces between words. */
const unspaced = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}ー]'
const wideMarks = '，、。；：！？（）【】《》〈〉｡､'
const asciiMarks = ',,.;:!?()"""""".,'
const wideMark = `[${wideMarks}]`
/** `説明（案）.md` is one name. */
const nameOrMark = new RegExp(`（[^\\s${wideMarks}]*）(?=\\.\\w)|${wideMark}`, 'gu')

/** A name without a space around it: `修正了src/a.ts和`. `設定a.ts` is a name itself. */
const afterName = new RegExp(`(\\.[a-z]\\w{0,9}(?::\\d+)?)(?=${unspaced})`, 'giu')
const particle = `${unspaced}*[了和与與及在把将將对對从從をはがのとやにで](?=[\\w@])`
const beforeName = new RegExp(`(?<![^\\s"'(,.:;])${particle}`, 'gu')
const seam = new RegExp(`${wideMark}|(?<![^/])${particle}`, 'gu')

/** What a report may be read to name instead of a name: `案.md` instead of `計画、案.md`. */
export function endsAfterSeams(name: string): readonly string[] {
  return [...name.matchAll(seam)].map(({ 0: { length }, index }) => name.slice(index + length))
}

/** The same for a report: text in backticks or quotes is a name, other text gets spaces around its names. */
export function plainReport(text: string): string {
  return plainName(text)
    .split(/(`[^`\n]*`|"[^"\n]*")/)
    .map((part, at) => (at % 2 === 1 ? part : withSpaces(part)))
    .join('')
}

function withSpaces(text: string): string {
  const marked = text.replace(nameOrMark, (mark) => {
    if (mark.length > 1) return mark
    const ascii = asciiMarks[wideMarks.indexOf(mark)] ?? ''
    return ascii === '(' ? ' (' : `${ascii} `
  })
  return marked.replace(afterName, '$1 ').replace(beforeName, '$& ')
}
