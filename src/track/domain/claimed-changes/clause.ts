import { isEnd, isMark, type PathGroup, pathGroup, wordAt, wordsOf } from './path-group.ts'
import { isDocument, type ReportLine, type ReportToken } from './report-text.ts'
import { type ChangeVerb, changeVerb, generates } from './verbs.ts'
import {
  adverbs,
  authors,
  coverings,
  determiners,
  failures,
  fileNouns,
  followers,
  modals,
  negations,
  objectPronouns,
  objectWords,
  pastVerbs,
  places,
  pointers,
  purposes,
  softStops,
  stops,
  subordinate,
  testNouns,
} from './words.ts'

/** A file that a report says was changed. */
export interface ClaimedChange {
  /** As it is named: from the project's folder, or cut at its start. */
  readonly path: string
  readonly isCreated: boolean
  /** It is said to be gone: deleted, or renamed to something else. */
  readonly isGone?: true
  /** Only said to be there: generated, or beside another change ("with a test in a.test.ts"). */
  readonly isBeside?: true
}
export interface ReportClaims {
  readonly claims: readonly ClaimedChange[]
  /** Paths that are said not to have changed, or to be as before. */
  readonly denied: readonly string[]
}
export interface SentenceClaims extends ReportClaims {
  /** What was said just before was undone. */
  readonly takesBack: boolean
}

/** Said of a whole sentence: it is of another time, of other people, or takes something back. */
const doubtful =
  /\b(?:already|previous|previously|earlier|before (?:the start of (?:the|this|my) (?:task|attempt|mission)|(?:the|this|my) (?:task|attempt|mission) (?:began|started)|(?:i|we) (?:began|started)|starting (?:the|this|my) (?:task|attempt|mission))|prior|pre-?existing|upstream|later|future|follow-?up|todo|tbd|pending|someday|eventually|next|still needs?|tried|trying|attempted|considered|planned|proposed|recommend\w*|suggest\w*|turned out|apparently|regression(?! test)|root cause|(?:an)?other (?:agent|task|session|person|developer|pr)s?|teammates?|colleagues?|someone|you|your|you'll|you're|optionally|was to|idea|here|temporarily|temporary|throwaway|scratch|locally|nothing)\b/
const undone =
  /\b(?:unchanged|untouched|as-is|as is|intact|revert\w*|restor(?:ed?|ing)|undid|undone|undo|rolled back|put (?:[\w-]+ ){0,6}back|back to (?:the|its) original|identical|not? (?:\w+ )?(?:changed?|modif\w+|edit\w*|touch\w*|updated?|changes?|edits?)|(?:did|was|were|does|do|have|has|had)(?:n't| not)|alone|no need|byte for byte|neither nor|nothing (?:in )?(?:was |has been )?(?:changed|modified|edited|touched|updated))\b/
/** Said of a path, it is as before, whatever was done to it meanwhile. */
const restored =
  /\b(?:revert\w*|restor(?:ed?|ing)|undid|undone|undo|rolled back|put (?:[\w-]+ ){0,6}back|back to (?:the|its) original)\b/
const same = /\b(?:intact|identical|byte for byte)\b/
const unaltered = /\b(?:unchanged|untouched|as-is|as is|alone|touch\w*|rewrit\w*|no need)\b/
/** The last words before "in `a.ts`" where the whole file is denied: "no changes were needed", "not touch any lines". */
const anyChange =
  /\bany lines?$|\b(?:code|contents?|file)$|\b(?:changes?|edits?|modifications?|anything|nothing|no (?:lines?|code)|touch\w*|untouched|unchanged|alone)(?: (?:is|are|was|were|be|been|made|done|needed|necessary|required|at|all))*$/
/** What is named after these is not what the sentence is about. */
const exclusions = /^(?:except|besides|beyond|outside|than|unlike)$/
const takenBack =
  /\b(?:(?:reverted|undid|removed|deleted|dropped|discarded|cleaned up|renamed|moved|rolled back|undone) (?:it|them|that|this|those|these|both|again|afterwards|that change|the changes?(?! (?:to|in|of|from)(?: that| which|$)))|(?:removed|deleted|reverted|undone|discarded|dropped) (?:again|afterwards))\b/
export function isDoubtful(text: string): boolean {
  return doubtful.test(text) || undone.test(text)
}

export function isReturned(text: string): boolean {
  return restored.test(text)
}

/** Whether the words say of their subject that it did not change, or is as before. */
export function isDenial(text: string): boolean {
  return (
    restored.test(text) ||
    same.test(text) ||
    (undone.test(text) && (unaltered.test(text) || text.split(' ').some(isOfChange)))
  )
}

/** The paths that a clause says did not change, or are as before again. "The API of a.ts" is not the whole file. */
export function deniedIn(tokens: readonly ReportToken[]): readonly string[] {
  const text = wordsOf(tokens)
  if (!isDenial(text) || besidesWhatChanged.test(text)) return []
  const groups = deniableGroups(tokens)
  return groups.flatMap(({ paths, start, end }, index) => {
    // What is between two files is said of the first one, "`a.ts` is unchanged and …", or leads to the second.
    const before = tokens.slice(groups[index - 1]?.end ?? 0, start)
    const next = groups[index + 1]
    const after = tokens.slice(end, next?.start)
    const own = [
      ...(index > 0 && isPredicateOf(before) ? [] : before),
      ...tokens.slice(start, end),
      ...(next === undefined || isPredicateOf(after) ? after : []),
    ]
    if (sameAgain.test(wordsOf(before)) || /^(?:too|as well|either)$/.test(wordsOf(after))) return paths
    return isDenial(wordsOf(own)) && !ofItsPart.test(wordsOf(after)) ? paths : []
  })
}

/** "`a.ts` is otherwise unchanged", "no other changes in `a.ts`": it changed. */
const besidesWhatChanged =
  /\b(?:otherwise|(?:other|further) (?:changes?|edits?)|\w+thing else|apart from|aside from)\b/

/** "… and so is `a.ts`", "… nor did I change `a.ts`". */
const sameAgain =
  /\b(?:not|(?:so|as|neither|nor) (?:is|are|was|were|has|have|did|do|does)(?: (?:i|we) \w+)?)$/
/** "`a.ts` does not change the API", "the rewrite of `a.ts` left its API unchanged". */
const ofItsPart =
  /^(?:(?:does|did|do)(?:n't| not) (?:\w+ )?(?:alter|change|edit|modify|touch|update)|left|leaves|keeps|kept) (?:all|how|its|the|what)\b/

/** Whether words are said of the file before them, and do not end with the verb of the file after them. */
function isPredicateOf(tokens: readonly ReportToken[]): boolean {
  const [first = ''] = wordsOf(tokens).split(' ')
  const last = wordAt(tokens, tokens.length - 1) ?? ''
  const isVerb =
    /^touch(?:es)?$/.test(last) || (['base', 'present'] as const).some((form) => changeVerb(last, form))
  return isPredicate(first) && first !== 'nor' && !isVerb
}

/** The files in a row that a denial may be about. */
function deniableGroups(tokens: readonly ReportToken[]) {
  const groups: (PathGroup & { readonly start: number })[] = []
  let last = 0
  for (let start = 0; start < tokens.length; start += 1) {
    const group = pathGroup(tokens, start)
    if (group === null) continue
    const { paths, end } = group
    const named = isOwner(tokens, end - 1) ? paths.slice(0, -1) : paths
    if (named.length > 0 && !isOnlyPlace(tokens, start) && !isMentioned(tokens, { last, start, end }))
      groups.push({ ...group, paths: named, start })
    last = end
    start = end - 1
  }
  return groups
}

const references =
  /^(?:(?:call|cover|exercis|import|includ|invok|load|match|mention|need|read|referenc|render|requir|test|us|wrap)(?:e?s?|ed|ing)|consum(?:es?|ing))$/

/** "… imports `a.ts`", "`b.ts`, which `a.ts` …": the sentence is about another file. */
function isMentioned(
  tokens: readonly ReportToken[],
  { last, start, end }: { readonly last: number; readonly start: number; readonly end: number },
): boolean {
  let verb = start - 1
  while (determiners.has(wordAt(tokens, verb) ?? '') || objectWords.has(wordAt(tokens, verb) ?? '')) verb -= 1
  const after = isMark(tokens[end], ',') ? end + 1 : end
  if (references.test(wordAt(tokens, verb) ?? '')) return wordAt(tokens, after) !== 'which'
  const between = wordsOf(tokens.slice(last, start))
  return (
    last > 0 &&
    !isMark(tokens[start - 1], ',') &&
    /^(?:which|that|whose)\b/.test(between) &&
    !undone.test(between)
  )
}

/** Whether a path only says where something is: "the API of `a.ts`", not "no changes in `a.ts` and `b.ts`". */
function isOnlyPlace(tokens: readonly ReportToken[], at: number): boolean {
  let before = at - 1
  while (
    tokens[before]?.kind === 'path' ||
    isMark(tokens[before], ',') ||
    /^(?:and|or|nor|the|file|files|existing)$/.test(wordAt(tokens, before) ?? '')
  )
    before -= 1
  const place = wordAt(tokens, before) ?? ''
  if (exclusions.test(place)) return true
  if (!(places.has(place) || /^(?:of|for|from|by|to|with|about|on|via|through|after|before)$/.test(place)))
    return false
  const words = wordsOf(tokens.slice(Math.max(0, before - 5), before))
  return !anyChange.test(words) && !isOfChange(words.split(' ').at(-1) ?? '')
}

/** "the `a.ts` tests", "`a.ts`'s API", not "`a.ts` imports `b.ts`". */
function isOwner(tokens: readonly ReportToken[], at: number): boolean {
  const next = wordAt(tokens, at + 1)
  if (tokens[at + 2]?.kind === 'path') return false
  return next !== null && !followers.has(next) && !stops.has(next) && !isPredicate(next)
}

function isPredicate(word: string): boolean {
  return (
    negations.has(word) ||
    modals.has(word) ||
    adverbs.has(word) ||
    isDoubtful(word) ||
    isOfChange(word) ||
    /^(?:or|nor|is|are|was|were|has|have|be|been|being|did|do|does|stay\w*|remain\w*|kept|left|exactly|either|itself|still|completely|entirely|never|actually|but|back|ends|ended|looks?)$/.test(
      word,
    )
  )
}

/** "exports" are a part of a file. */
function isOfChange(word: string): boolean {
  return (
    !word.startsWith('export') &&
    (['base', 'present', 'past', 'participle'] as const).some((form) => changeVerb(word, form) !== null)
  )
}

export function sentenceClaims(tokens: readonly ReportToken[], kind: ReportLine['kind']): SentenceClaims {
  const sentence = withoutNotOnly(tokens)
  const text = wordsOf(sentence)
  const takesBack = takenBack.test(text)
  const clauses = undone.test(text) && !takesBack ? clausesOf(sentence) : [sentence]
  const stated = clauses.filter((clause) => !undone.test(wordsOf(clause)))
  const denied = clauses.flatMap((clause, at) => {
    // "did not touch it except that …" did.
    return wordAt(clauses[at + 1] ?? [], 0) === 'except' ? [] : deniedIn(clause)
  })
  if (doubtful.test(text)) return { claims: [], denied, takesBack }
  const claims = stated.flatMap((clause) => {
    const isException = wordAt(clause, 0) === 'except'
    return new Clause(isException ? clause.slice(1) : clause, kind).claims()
  })
  return {
    claims: takesBack ? claims.filter(({ isCreated, isBeside }) => !(isCreated || isBeside)) : claims,
    denied,
    takesBack,
  }
}

/** The first clause, if a later one is only a denial: "`a.ts`: updated, its API unchanged". */
export function beforeDenial(tokens: readonly ReportToken[]): readonly ReportToken[] {
  const text = wordsOf(tokens)
  const [first = []] = undone.test(text) && !doubtful.test(text) ? clausesOf(tokens) : [tokens]
  return first
}

/** "Not only did I update `b.ts`, I also …" denies nothing. */
function withoutNotOnly(tokens: readonly ReportToken[]): readonly ReportToken[] {
  const at = tokens.findIndex(
    (_, index) => wordAt(tokens, index) === 'not' && wordAt(tokens, index + 1) === 'only',
  )
  if (at < 0) return tokens
  const isInverted = /^(?:did|have|has)$/.test(wordAt(tokens, at + 2) ?? '')
  return tokens.toSpliced(at, isInverted ? 3 : 2)
}

/** "The total did not round, so I changed `a.ts`": what is denied in one clause is not in the others. */
function clausesOf(sentence: readonly ReportToken[]): readonly (readonly ReportToken[])[] {
  const clauses: ReportToken[][] = [[]]
  // "I changed `a.ts`, and reverted" may be of one file.
  const isRestored = restored.test(wordsOf(sentence))
  const denied = lengthUntilDenial(sentence)
  sentence.forEach((token, at) => {
    if (
      isRestored
        ? restoresAnother(sentence, at)
        : startsClause(sentence, at) || startsDenial(sentence, at, denied)
    )
      clauses.push([])
    clauses.at(-1)?.push(token)
  })
  return clauses
}

function startsClause(sentence: readonly ReportToken[], at: number): boolean {
  const word = wordAt(sentence, at) ?? ''
  return (
    /^(?:because|except)$/.test(word) ||
    (word === 'so' && !/^(?:is|are|was|were|did|does|has|have)$/.test(wordAt(sentence, at + 1) ?? '')) ||
    (word === 'and' && authors.has(wordAt(sentence, at + 1) ?? '')) ||
    (authors.has(word) && isMark(sentence[at - 1], ','))
  )
}

/** "Updated `a.ts`, its API unchanged", "… with no changes to its API", "… while `b.ts` stays as it is". */
function startsDenial(sentence: readonly ReportToken[], at: number, denied: number): boolean {
  if (at >= denied || !mayStartDenial(sentence, at)) return false
  const before = sentence.slice(0, at)
  const isStated =
    before.some(({ kind }) => kind === 'path') &&
    before.some((token) => token.kind === 'word' && isOfChange(token.text))
  // "Updated `a.ts`, `b.ts` and `c.ts`, leaving …" is a list before the denial.
  const next = at + (wordAt(sentence, at + 1) === 'and' ? 2 : 1)
  if (!isStated || sentence[next]?.kind !== 'path') return isStated
  const end = sentence.findIndex((_, index) => index > next && mayStartDenial(sentence, index))
  return end < 0 || end >= denied
}

/** How many tokens of a sentence it takes until they deny something. */
function lengthUntilDenial(sentence: readonly ReportToken[]): number {
  let [known, denied] = [0, sentence.length]
  while (known < denied) {
    const middle = Math.floor((known + denied) / 2)
    if (undone.test(wordsOf(sentence.slice(0, middle)))) denied = middle
    else known = middle + 1
  }
  return denied
}

function mayStartDenial(tokens: readonly ReportToken[], at: number): boolean {
  const isMarked = [',', '(', '.', ';'].some((mark) => isMark(tokens[at], mark))
  return (
    (isMarked && !undone.test(wordAt(tokens, at + 1) ?? '')) ||
    /^(?:while|whereas|although|though|leaving|keeping|preserving|with|without)$/.test(
      wordAt(tokens, at) ?? '',
    ) ||
    /^(?:to not|and left|and kept)$/.test(wordsOf(tokens.slice(at, at + 2)))
  )
}

/** "Updated `a.ts` and restored `b.ts`". */
function restoresAnother(sentence: readonly ReportToken[], at: number): boolean {
  const isStart = isMark(sentence[at], ',') || wordAt(sentence, at) === 'and'
  return isStart && restored.test(wordAt(sentence, at + 1) ?? '') && sentence[at + 2]?.kind === 'path'
}

function isPast(word: string): boolean {
  return pastVerbs.has(word) || /[a-z]{2}ed$/.test(word)
}

/** What is generated to be looked at is often removed again. */
function isReport(path: string): boolean {
  return /\.(?:html?|xml|json|csv|tsv|svg|png|txt)$/i.test(path)
}

/** Reads a sentence from left to right, and knows at each path what governs it. */
class Clause {
  readonly #tokens: readonly ReportToken[]
  readonly #kind: ReportLine['kind']
  readonly #found: ClaimedChange[] = []
  /** Whose deeds the verbs are. */
  #subject: 'unknown' | 'author' | 'other' = 'unknown'
  #verb: ChangeVerb | null = null
  #isBase = false
  #isStopped = false
  /** What joins the next path to the verb. */
  #joint: 'object' | 'place' | 'none' = 'none'
  #preposition = ''
  #isNew = false
  #since: string[] = []
  #isPassive = false
  /** "`a.ts` is updated", which may be what a program does. */
  #isState = false
  #group: readonly string[] | null = null
  /** What follows comes beside the change: "with a test in". */
  #beside: 'none' | 'open' | 'test' | 'place' = 'none'
  #hasChanged = false
  /** Somebody or something else did something. */
  #isOfOthers = false

  constructor(tokens: readonly ReportToken[], kind: ReportLine['kind']) {
    this.#tokens = tokens
    this.#kind = kind
  }

  claims(): readonly ClaimedChange[] {
    let at = this.#leadingPaths()
    while (at < this.#tokens.length) {
      const token = this.#tokens[at]
      if (token === undefined) break
      if (token.kind === 'word' && negations.has(token.text)) break
      at = token.kind === 'path' ? this.#path(at) : this.#step(token, at)
    }
    return this.#found
  }

  /** "New file `a.ts`", "In `a.ts`, I replaced …". */
  #leadingPaths(): number {
    if (wordAt(this.#tokens, 0) === 'new') return this.#newFiles()
    if (wordAt(this.#tokens, 0) !== 'in') return 0
    const group = pathGroup(this.#tokens, 1)
    if (group === null) return 0
    let at = group.end
    while (
      isMark(this.#tokens[at], ',') ||
      authors.has(wordAt(this.#tokens, at) ?? '') ||
      adverbs.has(wordAt(this.#tokens, at) ?? '')
    )
      at += 1
    if (at === group.end || changeVerb(wordAt(this.#tokens, at) ?? '', 'past') === null) return 0
    this.#claim(group.paths, false)
    this.#subject = 'author'
    return at
  }

  #newFiles(): number {
    let at = 1
    while (objectWords.has(wordAt(this.#tokens, at) ?? '') || isMark(this.#tokens[at], ':')) at += 1
    const group = pathGroup(this.#tokens, at)
    if (group === null || !this.#isWholeName(this.#tokens[group.end], group.end)) return 1
    this.#claim(group.paths, true)
    return group.end
  }

  #step(token: Exclude<ReportToken, { kind: 'path' }>, at: number): number {
    if (token.kind === 'code') {
      this.#noun('')
      return at + 1
    }
    if (token.kind === 'mark') return this.#mark(token.text, at)
    this.#word(token.text, at)
    return at + 1
  }

  #mark(text: string, at: number): number {
    this.#beside = 'none'
    if (text === '(') {
      const close = this.#tokens.findIndex((one, index) => index > at && isMark(one, ')'))
      if (close < 0) return at + 1
      const inside = this.#tokens.slice(at + 1, close)
      const group = pathGroup(inside, 0)
      const isPlace = group !== null && group.end === inside.length
      const isOfVerb =
        this.#verb !== null &&
        !this.#verb.fixes &&
        !this.#isStopped &&
        !this.#since.some((one) => softStops.has(one) || pointers.has(one))
      if (isPlace && isOfVerb) this.#claim(group.paths, false)
      else if (!isPlace) this.#found.push(...sentenceClaims(inside, 'text').claims)
      return close + 1
    }
    if (text === ':') {
      const isList =
        this.#verb !== null &&
        !this.#isStopped &&
        !this.#since.some((one) => pointers.has(one) || softStops.has(one))
      this.#joint = isList ? 'object' : 'none'
    } else if (text !== ',') this.#joint = 'none'
    return at + 1
  }

  #word(word: string, at: number): void {
    const previous = wordAt(this.#tokens, at - 1) ?? ''
    this.#beside = this.#besideAfter(word, previous)
    if (authors.has(word)) {
      this.#subject = 'author'
      this.#verb = null
      return
    }
    if (this.#isVerbHere(word, at, previous)) return
    this.#isOfOthers ||= isPast(word)
    if (modals.has(word)) this.#turnAway()
    else if (subordinate.has(word)) this.#turnAway()
    else if (stops.has(word)) {
      this.#isStopped = true
      this.#joint = 'none'
    } else if (['was', 'were', 'been', 'got'].includes(word)) {
      this.#isPassive = true
      this.#isState = false
      this.#verb = null
    } else if (['is', 'are', 'be', 'being', 'gets'].includes(word)) {
      this.#isState = /^(?:is|are)$/.test(word) && this.#isAboutFiles(at)
      this.#isPassive = this.#isState
      this.#verb = null
    } else if (places.has(word) || word === 'to' || word === 'from') this.#join(word, at)
    else if (word === 'including') this.#joint = this.#verb !== null && !this.#isStopped ? 'object' : 'none'
    else if (adverbs.has(word) || word === 'and' || word === 'have' || word === 'has') return
    else if (this.#isOtherPast(word, at, previous)) {
      this.#subject = this.#subject === 'unknown' ? 'author' : this.#subject
      this.#verb = null
      this.#hasChanged &&= coverings.has(word)
      this.#joint = 'none'
    } else this.#noun(word)
  }

  /** Reads "with a test in", "covered by new tests in". */
  #besideAfter(word: string, previous: string): 'none' | 'open' | 'test' | 'place' {
    const isByTest = word === 'by' && coverings.has(previous)
    if ((word === 'with' || word === 'plus' || isByTest) && this.#subject !== 'other' && this.#hasChanged)
      return 'open'
    if (this.#beside === 'none') return 'none'
    if (this.#beside !== 'open') return places.has(word) ? 'place' : 'test'
    if (testNouns.has(word)) return 'test'
    return determiners.has(word) || objectWords.has(word) || word === 'regression' ? 'open' : 'none'
  }

  /** Something else than its author's deeds follows. */
  #turnAway(): void {
    this.#subject = 'other'
    this.#verb = null
    this.#joint = 'none'
    this.#isPassive = false
    this.#group = null
  }

  #isVerbHere(word: string, at: number, previous: string): boolean {
    const isFirst = this.#isFirst(at)
    const past = word === 'generated' ? generates : changeVerb(word, 'past')
    if (past !== null) {
      if (determiners.has(previous) || previous === 'new' || previous === 'with' || previous === 'of')
        return false
      if (this.#isPassive && this.#subject !== 'other') return this.#passive(word, past, at)
      if (this.#isPassive) return false
      if (!(isFirst || this.#subject === 'author' || this.#resumes(at, previous))) return false
      const isJoined =
        isFirst ||
        ['and', 'then', 'i', 'we', 'have', "i've", "we've", 'also', ''].includes(previous) ||
        adverbs.has(previous)
      if (!isJoined) return false
      return this.#begin(past, false)
    }
    const participle = changeVerb(word, 'participle')
    if (
      participle !== null &&
      this.#subject === 'author' &&
      (previous === 'by' || isMark(this.#tokens[at - 1], ','))
    )
      return this.#begin(participle, false)
    const present = changeVerb(word, 'present')
    const isOfChange =
      /^(?:pr|change|commit|patch|task)$/.test(previous) && wordAt(this.#tokens, 0) === 'this'
    if (present !== null && (isFirst || isOfChange) && !isEnd(this.#tokens[at + 1]))
      return this.#begin(present, false)
    const base = changeVerb(word, 'base')
    const isPlainStart = isFirst && this.#kind !== 'heading'
    if (base !== null && (isPlainStart || (this.#isBase && ['and', 'then'].includes(previous)))) {
      const next = wordAt(this.#tokens, at + 1)
      const isNoun =
        isEnd(this.#tokens[at + 1]) ||
        places.has(next ?? '') ||
        /^(?:to|for|of|on|is|was|from|with|and)$/.test(next ?? '')
      if (!isNoun) return this.#begin(base, true)
    }
    return false
  }

  /** "Changed a.ts so that it groups, added a test, and updated b.ts", "All tests pass, and updated b.ts": not of the subject before. */
  #resumes(at: number, previous: string): boolean {
    const next = this.#tokens[at + 1]
    const comma = previous === 'and' ? at - 2 : at - 1
    const isAfterComma = isMark(this.#tokens[comma], ',')
    const isOwn = this.#hasChanged && !this.#isOfOthers
    if (next?.kind === 'word')
      return isAfterComma && isOwn && (determiners.has(next.text) || next.text === 'new')
    if (next?.kind !== 'path') return false
    if (previous !== 'and' || !isAfterComma) return isOwn && (previous === 'and' || isAfterComma)
    return this.#hasChanged || /^(?:green|pass|passes)$/.test(wordAt(this.#tokens, comma - 1) ?? '')
  }

  /** A sentence begins after adverbs and marks. */
  #isFirst(at: number): boolean {
    return this.#tokens.slice(0, at).every((token) => {
      return (
        (token.kind === 'word' && (adverbs.has(token.text) || token.text === 'and')) ||
        isMark(token, ',') ||
        isMark(token, ':')
      )
    })
  }

  #begin(verb: ChangeVerb, isBase: boolean): true {
    this.#hasChanged = true
    this.#subject = 'author'
    this.#verb = verb
    this.#isBase = isBase
    this.#isStopped = false
    this.#joint = 'object'
    this.#preposition = ''
    this.#isNew = false
    this.#since = []
    return true
  }

  /** "`a.ts` was updated", "a limiter was added to `a.ts`". */
  #passive(word: string, verb: ChangeVerb, at: number): boolean {
    this.#isPassive = false
    if (this.#isState && (verb.fixes || !this.#endsState(at + 1))) return false
    if (
      wordAt(this.#tokens, at + 1) === 'by' ||
      ['introduced', 'written', 'dropped', 'generated'].includes(word)
    )
      return false
    if (this.#group !== null) {
      this.#claim(
        this.#group,
        verb.creates && !['to', 'in', 'into'].includes(wordAt(this.#tokens, at + 1) ?? ''),
        verb.takesFrom,
      )
      this.#group = null
    }
    const subject = this.#subject
    this.#begin(verb, false)
    this.#subject = subject
    this.#joint = 'none'
    return true
  }

  /** Whether a sentence begins with files and says nothing else before `at`. */
  #isAboutFiles(at: number): boolean {
    const before = this.#tokens.slice(0, at)
    const isName = (token: ReportToken) =>
      token.kind === 'path' ||
      isMark(token, ',') ||
      (token.kind === 'word' && (determiners.has(token.text) || token.text === 'and'))
    return before.some(({ kind }) => kind === 'path') && before.every(isName)
  }

  /** "`a.ts` is updated", "… updated now", not "… updated on each build". */
  #endsState(at: number): boolean {
    const rest = this.#tokens.slice(at, at + 3)
    const words = isMark(rest[0], ',') ? rest.slice(1) : rest
    const isAdverb = (token: ReportToken) =>
      token.kind === 'word' && /^(?:accordingly|now|too)$/.test(token.text)
    return rest.length === 0 || (words.length === 1 && words.every(isAdverb))
  }

  /** Another verb of the author: "and verified …". */
  #isOtherPast(word: string, at: number, previous: string): boolean {
    const isNext =
      previous === 'and' || previous === 'then' || authors.has(previous) || isMark(this.#tokens[at - 1], ',')
    return isPast(word) && (this.#isFirst(at) || isNext)
  }

  #join(word: string, at: number): void {
    this.#joint = 'none'
    this.#preposition = word
    this.#isNew = false
    const verb = this.#verb
    if (verb === null || verb === generates || this.#isStopped) return
    const last = this.#since.at(-1) ?? ''
    if (word === 'to') {
      const next = this.#tokens[at + 1]
      const isPlace = next?.kind !== 'word' || determiners.has(next.text) || objectWords.has(next.text)
      if (!isPlace) this.#isStopped = true
      else if (verb.reachesTo && !pointers.has(last)) this.#joint = 'place'
    } else if (word === 'from') {
      if (verb.takesFrom) this.#joint = 'place'
      else this.#isStopped = true
    } else if (!(verb.fixes && this.#since.some((one) => failures.has(one)))) this.#joint = 'place'
  }

  #noun(word: string): void {
    this.#since.push(word)
    if (word === 'new') this.#isNew = true
    if (softStops.has(word)) this.#joint = 'none'
    else if (this.#joint !== 'none' && !objectWords.has(word) && !/^\d+$/.test(word)) this.#joint = 'none'
    this.#group = null
  }

  #path(at: number): number {
    const group = pathGroup(this.#tokens, at)
    if (group === null) return at + 1
    const isGoverned = this.#verb !== null && !this.#isStopped && this.#joint !== 'none'
    const isBeside = this.#beside === 'place'
    this.#beside = 'none'
    const next = this.#tokens[group.end]
    const isWhole = this.#isWholeName(next, group.end)
    if (wordAt(this.#tokens, group.end) === 'is' && wordAt(this.#tokens, group.end + 1) === 'new')
      this.#claim(group.paths, true)
    const isObject = this.#joint === 'object'
    const isFailure = this.#verb?.fixes === true && this.#since.some((one) => failures.has(one))
    const isSubject = isWhole || /^(?:is|are)$/.test(wordAt(this.#tokens, group.end) ?? '')
    this.#group = isSubject ? group.paths : null
    if (isGoverned && isWhole && !isFailure && !(isObject && this.#isEntry(group.end))) {
      const isCreated =
        (isObject && this.#verb?.creates === true) ||
        this.#isNew ||
        (this.#verb?.renames === true && this.#preposition === 'to' && this.#since.length === 0)
      const isGone = isObject && (this.#verb?.takesFrom ?? false)
      this.#claim(group.paths, isCreated, isGone)
    } else if (isBeside && isWhole)
      this.#found.push(...group.paths.map((path) => ({ path, isCreated: false, isBeside: true as const })))
    const isArrow = isMark(next, '→')
    if (isArrow && this.#verb?.renames && isGoverned) {
      this.#preposition = 'to'
      this.#joint = 'place'
      return group.end + 1
    }
    this.#joint = 'none'
    return group.end
  }

  /** "the `a.ts` import" is about something else than the file. */
  #isWholeName(next: ReportToken | undefined, end: number): boolean {
    if (next === undefined) return true
    if (next.kind === 'mark') return next.text !== '→' || this.#verb?.renames === true
    if (next.kind !== 'word') return false
    const name = this.#tokens[end - 1]
    // "README files" are others.
    if (fileNouns.has(next.text)) return !(name?.kind === 'path' && isDocument(name.path))
    return (
      (followers.has(next.text) || stops.has(next.text)) &&
      !(next.text === 'and' && wordAt(this.#tokens, end + 1) === null)
    )
  }

  /** "added `a.ts` to the list", "removed `a.ts` from `b.json`": the file itself did not change. */
  #isEntry(end: number): boolean {
    const next = wordAt(this.#tokens, end)
    if (next === 'to' && this.#isPurpose(end + 1)) return false
    if (next === 'to' || next === 'in' || next === 'under' || next === 'into')
      return this.#verb?.creates === true && next !== 'in'
    return next === 'from' && this.#verb?.takesFrom === true && this.#verb.renames !== true
  }

  /** "to parse prices", "to cover it", "to check `a.ts`", not "to the list" or "to test suites". */
  #isPurpose(at: number): boolean {
    const word = wordAt(this.#tokens, at)
    if (word === null || determiners.has(word) || objectWords.has(word)) return false
    if (purposes.has(word)) return true
    const object = this.#tokens[at + 1]
    if (object?.kind === 'path') return true
    return object?.kind === 'word' && (determiners.has(object.text) || objectPronouns.has(object.text))
  }

  #claim(paths: readonly string[], isCreated: boolean, isGone = false): void {
    const isThere = this.#verb === generates
    for (const path of paths) {
      if (isThere && isReport(path)) continue
      // Added text may name a file: "Added `notes in a.md`".
      const isNew = isCreated && !(path.includes(' ') && this.#verb?.reachesTo)
      this.#found.push({
        path,
        isCreated: isNew,
        ...(isGone && { isGone }),
        ...(isThere && { isBeside: true }),
      })
    }
  }
}
