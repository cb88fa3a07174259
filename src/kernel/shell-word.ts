/** A command for a person to copy: each value in it is one word, which no shell expands. */
export function shellCommand(
  parts: TemplateStringsArray,
  ...words: readonly (string | number | null | undefined)[]
): string {
  return String.raw({ raw: parts }, ...words.map((word) => quoteShellWord(String(word ?? ''))))
}

/** Quotes a word for a POSIX shell: nothing in it is expanded or run. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Words that mean something else to a shell when they are not in quotes, also to the options after them. */
const reserved =
  /^(?:-.*|alias|builtin|case|command|coproc|declare|do|done|elif|else|esac|eval|exec|export|fi|for|function|if|in|local|readonly|select|then|time|typeset|until|while)$/

/**
 * One spelling of a line for a POSIX shell: single spaces outside of quotes, and no quotes around plain words. Lines with
 * expansions, escapes or several lines stay as they are.
 */
export function plainSpelling(line: string): string {
  if (/[\\`$#\n\r]|\[\[/.test(line) || !/^(?:"[^"]*"|'[^']*'|[^"'])*$/.test(line)) return line
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^ \t"'])+/g) ?? []
  return words
    .map((word) => {
      const [, , plain] = /^(["'])([\w@%+:,./-]+)\1$/.exec(word) ?? []
      return plain === undefined || reserved.test(plain) ? word : plain
    })
    .join(' ')
}

/** What lines of similar commands share: without quotes, `./`, variables set in front, and a shell that runs the rest. */
export function similarSpelling(line: string): string {
  const words = line.replace(/["';]/g, ' ').trim().split(/\s+/)
  const first = words.findIndex(
    (word) => !/^(?:\w+=.*|command|env|exec|(?:\/\S+\/)?(?:ba|da|z)?sh|-\w+)$/.test(word),
  )
  return words
    .slice(Math.max(0, first))
    .map((word) => word.replace(/^\.\//, ''))
    .join(' ')
}
