/** A word of a command, without quotes. An expansion in it is `*`. */
export interface ShellWord {
  readonly text: string
  /** It contains an expansion, so its text is only known when it runs. */
  readonly dynamic: boolean
}

/** A command of a script, without its redirections. */
export interface ShellCommand {
  readonly words: readonly ShellWord[]
  /** The subshell that it runs in: a `cd` ends with it. */
  readonly scope: ShellScope
  /** The text of its heredoc or here string. */
  readonly input: string | null
}

export interface ShellScope {
  readonly parent: ShellScope | null
}

interface Draft {
  words: ShellWord[]
  text: string
  started: boolean
  dynamic: boolean
  /** The next word belongs to a redirection; `input` for a here string. */
  redirected: boolean | 'input'
  input: string | null
}

/** A substitution or a group, and what to return to at its end. */
interface OpenSubstitution {
  readonly closes: ')' | '`'
  readonly isGroup: boolean
  readonly around: Draft
  readonly quoted: boolean
  readonly scope: ShellScope
}

interface Heredoc {
  readonly delimiter: string
  readonly dash: boolean
  readonly draft: Draft
}

const maxDepth = 500

/**
 * Splits a script into commands in one pass, so that its time is linear: also those in groups and substitutions. Quoted
 * text, comments and heredocs contain none.
 */
export function shellCommands(script: string): readonly ShellCommand[] {
  return new Splitter(script.replaceAll('\r\n', '\n')).commands()
}

class Splitter {
  readonly #source: string
  readonly #commands: { readonly draft: Draft; readonly scope: ShellScope }[] = []
  readonly #frames: OpenSubstitution[] = []
  readonly #heredocs: Heredoc[] = []
  #scope: ShellScope = { parent: null }
  #draft = newDraft()
  #at = 0
  #quoted = false
  /** How many commands end with a whole line. */
  #whole = 0

  constructor(source: string) {
    this.#source = source
  }

  commands(): readonly ShellCommand[] {
    while (this.#at < this.#source.length) {
      // What is nested deeper is not understood.
      if (this.#frames.length > maxDepth) return []
      this.#step(this.#source[this.#at] ?? '')
    }
    // A substitution or a quote without an end: the shell runs the lines before it.
    const isCut = this.#frames.length > 0 || this.#quoted
    if (!isCut) this.#endCommand()
    const commands = isCut ? this.#commands.slice(0, this.#whole) : this.#commands
    return commands.map(({ draft: { words, input }, scope }) => ({ words, scope, input }))
  }

  #step(char: string): void {
    if (char === '\\') this.#escape()
    else if (char === '$') this.#expand()
    else if (char === '`') this.#backtick()
    else if (this.#quoted) this.#quotedChar(char)
    else if (char === '"' || char === "'") this.#quote(char)
    else if (char === '#' && !this.#draft.started) this.#skipComment()
    else if (char === '<' || char === '>') this.#redirect()
    else if (char === '\n') this.#newline()
    else if (char === ';' || char === '|' || char === '&') this.#separator()
    else if (char === '(') this.#openGroup()
    else if (char === ')') this.#close()
    else {
      this.#at += 1
      if (char === ' ' || char === '\t') this.#endWord()
      else this.#append(char)
    }
  }

  #quotedChar(char: string): void {
    this.#at += 1
    if (char === '"') this.#quoted = false
    else this.#append(char)
  }

  #escape(): void {
    const next = this.#source[this.#at + 1] ?? ''
    this.#at += 2
    // A line break after a backslash does not end the line.
    if (next === '\n') return
    this.#append(this.#quoted && !'$`"\\'.includes(next) ? `\\${next}` : next)
  }

  #quote(mark: string): void {
    this.#draft.started = true
    this.#at += 1
    if (mark === '"') {
      this.#quoted = true
      return
    }
    const end = this.#source.indexOf("'", this.#at)
    if (end < 0) {
      // Without an end nothing runs.
      this.#quoted = true
      this.#at = this.#source.length
      return
    }
    this.#append(this.#source.slice(this.#at, end))
    this.#at = end + 1
  }

  #expand(): void {
    const source = this.#source
    const next = source[this.#at + 1] ?? ''
    if (next === "'" && !this.#quoted) {
      ansiQuote.lastIndex = this.#at
      const text = ansiQuote.exec(source)?.[1]
      if (text !== undefined) {
        this.#append(text.replace(/\\(.)/gs, (_, char: string) => (char === 'n' ? '\n' : char)))
        this.#at = ansiQuote.lastIndex
        return
      }
    }
    if (source.startsWith('((', this.#at + 1)) {
      const end = source.indexOf('))', this.#at)
      this.#expansion()
      this.#at = end < 0 ? source.length : end + 2
      return
    }
    if (next === '(') {
      this.#expansion()
      this.#at += 1
      this.#open(')', false)
      return
    }
    if (next === '{') {
      const end = source.indexOf('}', this.#at)
      this.#expansion()
      this.#at = end < 0 ? source.length : end + 1
      return
    }
    variable.lastIndex = this.#at
    if (variable.test(source)) {
      this.#expansion()
      this.#at = variable.lastIndex
      return
    }
    this.#at += 1
    this.#append('$')
  }

  #backtick(): void {
    if (this.#frames.at(-1)?.closes === '`') {
      this.#at += 1
      this.#leave()
      return
    }
    this.#expansion()
    this.#open('`', false)
  }

  #expansion(): void {
    this.#append('*')
    this.#draft.dynamic = true
  }

  #openGroup(): void {
    this.#endWord()
    this.#open(')', true)
  }

  /** Starts the commands of a substitution or a group. */
  #open(closes: OpenSubstitution['closes'], isGroup: boolean): void {
    this.#frames.push({
      closes,
      isGroup,
      around: this.#draft,
      quoted: this.#quoted,
      scope: this.#scope,
    })
    this.#scope = { parent: this.#scope }
    this.#draft = newDraft()
    this.#quoted = false
    this.#at += 1
  }

  #close(): void {
    this.#at += 1
    // A pattern of `case` ends with it too.
    if (this.#frames.at(-1)?.closes === ')') this.#leave()
    else this.#endCommand()
  }

  #leave(): void {
    this.#endCommand()
    const frame = this.#frames.pop()
    if (frame === undefined) return
    this.#scope = frame.scope
    this.#draft = frame.around
    this.#quoted = frame.quoted
    // What follows the parentheses of a function is a command of its own.
    if (frame.isGroup) this.#endCommand()
  }

  #skipComment(): void {
    const end = this.#source.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#source.length : end
  }

  #redirect(): void {
    const source = this.#source
    heredocStart.lastIndex = this.#at
    const heredoc = heredocStart.exec(source)
    if (/^\d+$/.test(this.#draft.text)) this.#draft.text = ''
    if (this.#draft.text === '') this.#draft.started = false
    this.#endWord()
    if (heredoc !== null) {
      const [whole, dash, , delimiter = ''] = heredoc
      this.#heredocs.push({ delimiter, dash: dash === '-', draft: this.#draft })
      this.#at += whole.length
      return
    }
    // A process substitution.
    if (source[this.#at + 1] === '(') {
      this.#at += 1
      this.#open(')', false)
      return
    }
    redirection.lastIndex = this.#at
    const [mark] = redirection.exec(source) ?? []
    this.#at = Math.max(this.#at + 1, redirection.lastIndex)
    this.#draft.redirected = mark === '<<<' ? 'input' : true
  }

  #newline(): void {
    this.#at += 1
    const heredocs = this.#heredocs.splice(0)
    for (const { delimiter, dash, draft } of heredocs) {
      const begin = this.#at
      for (;;) {
        const end = this.#source.indexOf('\n', this.#at)
        const line = this.#source.slice(this.#at, end < 0 ? undefined : end)
        const isLast = (dash ? line.replace(/^\t+/, '') : line) === delimiter
        if (isLast || end < 0) {
          draft.input = this.#source.slice(begin, isLast ? this.#at : undefined)
          this.#at = end < 0 ? this.#source.length : end + 1
          break
        }
        this.#at = end + 1
      }
    }
    this.#endCommand()
    if (this.#frames.length === 0) this.#whole = this.#commands.length
  }

  #separator(): void {
    const char = this.#source[this.#at] ?? ''
    // `&>` and `2>&1` are redirections.
    if (char === '&' && this.#source[this.#at + 1] === '>') {
      this.#at += 1
      this.#redirect()
      return
    }
    this.#at += 1
    this.#endCommand()
  }

  #append(text: string): void {
    this.#draft.text += text
    this.#draft.started = true
  }

  #endWord(): void {
    const draft = this.#draft
    if (!draft.started) return
    if (draft.redirected === 'input') draft.input = draft.text
    if (draft.redirected === false) draft.words.push({ text: draft.text, dynamic: draft.dynamic })
    draft.redirected = false
    draft.text = ''
    draft.started = false
    draft.dynamic = false
  }

  #endCommand(): void {
    this.#endWord()
    // Its heredoc is read after the line.
    if (this.#draft.words.length > 0) this.#commands.push({ draft: this.#draft, scope: this.#scope })
    this.#draft = newDraft()
  }
}

function newDraft(): Draft {
  return { words: [], text: '', started: false, dynamic: false, redirected: false, input: null }
}

const variable = /\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/y
const ansiQuote = /\$'((?:[^'\\]|\\.)*)'/sy
const heredocStart = /<<(-?)[ \t]*(['"\\]?)([^\s'"\\;|&<>()]+)['"]?/y
const redirection = /(?:<<<|<>|>>|>\||[<>]&?)/y
