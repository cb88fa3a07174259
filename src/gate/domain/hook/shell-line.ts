/** A shell line, parsed as far as possible without running it. */
export interface ShellLine {
  /** Each command of the line, with single spaces between its words: as written, and without quotes. */
  readonly commands: readonly { readonly text: string; readonly bare: string }[]
  /**
   * Null if the line runs exactly these commands; else the construct that hides what it runs: a substitution, a variable,
   * a redirection, a group.
   */
  readonly unclear: string | null
}

// Redirections without effect. Digits before one belong to it at the start of a word.
const harmlessRedirection = /(?:&>>?|\d*[<>]>?) ?\/dev\/null(?=[\s;&|]|$)|\d*>&\d(?=[\s;&|]|$)/y
const expansion = /\$[\w{(@*#?$!'"-]/y

/** Splits a line at `;`, `&`, `|` and line breaks, in one pass, so that its time is linear. */
export function readShellLine(line: string): ShellLine {
  const source = line.replaceAll('\r\n', '\n')
  const commands: { text: string; bare: string }[] = []
  const unclear: string[] = []
  let [text, bare] = ['', '']
  let quote: '"' | "'" | null = null
  const add = (written: string, plain = written) => {
    text += written
    bare += plain
  }
  const cut = () => {
    if (text.trim() !== '') commands.push({ text: text.trim(), bare: bare.trim() })
    text = ''
    bare = ''
  }
  for (let position = 0; position < source.length; position += 1) {
    const char = source[position] ?? ''
    const startsWord = text === '' || text.endsWith(' ')
    if (char === '\0' || char === '\r') unclear.push('a control character')
    if (quote === "'") {
      if (char === "'") quote = null
      add(char, char === "'" ? '' : char)
      continue
    }
    if (char === '\\') {
      position += 1
      const next = source[position] ?? ''
      // A line break after a backslash does not end the line.
      if (next !== '\n') add(`\\${next}`, next)
      continue
    }
    if (char === '`' || (char === '$' && matchAt(expansion, source, position) !== null)) {
      unclear.push(char === '`' || source[position + 1] === '(' ? 'a substitution' : 'a variable')
    }
    if (quote === '"') {
      if (char === '"') quote = null
      add(char, char === '"' ? '' : char)
      continue
    }
    if (char === '"' || char === "'") {
      quote = char
      add(char, '')
      continue
    }
    const redirection =
      startsWord || '<>&'.includes(char) ? matchAt(harmlessRedirection, source, position) : null
    if (redirection !== null) {
      position += redirection.length - 1
      continue
    }
    if (char === '#' && startsWord) unclear.push('a comment')
    if (char === '<' || char === '>') unclear.push('a redirection')
    if (char === '(' || char === ')') unclear.push('a group')
    if (';&|\n()`'.includes(char)) cut()
    else if (char === ' ' || char === '\t') add(startsWord ? '' : ' ')
    else add(char)
  }
  cut()
  if (quote !== null) unclear.push('an open quote')
  return { commands, unclear: unclear[0] ?? null }
}

function matchAt(pattern: RegExp, source: string, position: number): string | null {
  pattern.lastIndex = position
  return pattern.exec(source)?.[0] ?? null
}

const before =
  /^(?:[A-Za-z_]\w*=\S*|[{!]|then|do|else|elif|if|while|until|time|env|command|builtin|exec|nohup|nice|sudo) /
const folder = /^\S*\//

/** A command without its prefix: assignments, words such as `sudo`, its folder. */
export function unwrapCommand(bare: string): string {
  let rest = bare
  for (let found = before.exec(rest); found !== null; found = before.exec(rest)) {
    rest = rest.slice(found[0].length)
  }
  return rest.replace(folder, '')
}

/** Whether a command matches `npm test*`, where `*` is any characters; `npm test:*` is `npm test` with any further words. */
export function isMatchingCommand(pattern: string, command: string): boolean {
  if (pattern.endsWith(':*')) {
    const beginning = pattern.slice(0, -2)
    return command === beginning || command.startsWith(`${beginning} `)
  }
  const [first = '', ...others] = pattern.split('*')
  if (others.length === 0) return command === first
  if (!command.startsWith(first)) return false
  let position = first.length
  const last = others.pop() ?? ''
  for (const part of others) {
    const found = command.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return command.length - last.length >= position && command.endsWith(last)
}
