import text from '../../docs/glossary.md?raw'

/** The words of the glossary with their meanings. */
export const glossary: readonly { readonly word: string; readonly meaning: string }[] = text
  .split('\n')
  .flatMap((line) => {
    const [, word, meaning] = /^\| ([^|]+) \| ([^|]+) \|$/.exec(line) ?? []
    const isRow = word !== undefined && meaning !== undefined && word !== 'word'
    return isRow ? [{ word, meaning: meaning.replaceAll('`', '') }] : []
  })
