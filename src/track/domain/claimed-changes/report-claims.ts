import {
  beforeDenial,
  type ClaimedChange,
  deniedIn,
  isDenial,
  isDoubtful,
  isReturned,
  type ReportClaims,
  type SentenceClaims,
  sentenceClaims,
} from './clause.ts'
import { isEnd, isMark, pathGroup, sentencesOf, wordAt, wordsOf } from './path-group.ts'
import { isDocument, type ReportLine, type ReportToken } from './report-text.ts'
import { changeVerb } from './verbs.ts'

/** What the lines below a heading or an introduction are about. */
type Section =
  | { readonly kind: 'open' }
  /** Plans, instructions, causes: no line in it is a claim. */
  | { readonly kind: 'closed' }
  /** A list of changed files. */
  | { readonly kind: 'files'; readonly isCreated: boolean; readonly isGone: boolean }
  /** The lines below say what changed in one file. */
  | { readonly kind: 'file'; readonly path: string; readonly isCreated: boolean }

const openSection: Section = { kind: 'open' }

/** Reads the lines of a report, each as a part of its section. */
export function readLines(lines: readonly ReportLine[]): ReportClaims {
  const denied: string[] = []
  const claims: (readonly ClaimedChange[])[] = []
  let heading = openSection
  let introduced = noIntroduction
  for (const line of lines) {
    if (line.kind === 'heading') {
      heading = sectionOf(line.tokens)
      introduced = noIntroduction
      continue
    }
    if (line.kind === 'text' || line.indent <= introduced.indent) introduced = noIntroduction
    const section: Section = introduced.section ?? heading
    if (isMark(line.tokens.at(-1), ':')) {
      introduced = {
        indent: line.kind === 'item' ? line.indent : -1,
        section: section.kind === 'closed' ? section : sectionOf(line.tokens),
      }
    }
    if (section.kind === 'closed') continue
    const found = lineClaims(line, section)
    if (found.takesBack) claims.pop()
    claims.push(found.claims)
    denied.push(...found.denied)
  }
  return { claims: claims.flat(), denied }
}

/** A line that ends with a colon: what is indented below it, or follows it, is about it. */
interface Introduction {
  readonly indent: number
  readonly section: Section | null
}

const noIntroduction: Introduction = { indent: -1, section: null }

const closing =
  /\b(?:next|follow-?ups?|remaining|todo|to do|future|recommend\w*|suggest\w*|how to|usage|to (?:run|try|test|use|verify|reproduce)|notes?|caveats?|limitations?|not (?:done|changed|included|touched)|unchanged|untouched|out of scope|open questions?|known issues?|manual|try|deploy\w*|before (?:you|merg\w+)|root cause|cause|background|context|analysis|findings?|investigat\w+|problem|issue|bug|reviewed|read|inspected|looked at|explored|references?|relevant|plan|proposals?|options?|alternatives?|risks?|later|still open|left|warning|example|why|reason|expected|optional|if you|you)\b/

function sectionOf(tokens: readonly ReportToken[]): Section {
  const text = wordsOf(tokens)
  const paths = tokens.flatMap((token) => (token.kind === 'path' ? [token.path] : []))
  const [only] = paths
  // A heading "CHANGELOG" is followed by one.
  if (only !== undefined && !isDocument(only) && paths.length === 1 && tokens[0]?.kind === 'path') {
    const rest = text.trim()
    if (rest === '' || /^(?:new|new file|created|modified|updated|changed|edited)$/.test(rest))
      return { kind: 'file', path: only, isCreated: /new|created/.test(rest) }
  }
  if (closing.test(text)) return { kind: 'closed' }
  const isFiles =
    /^(?:all )?(?:the )?(?:files? |paths? )?(?:i )?(?:changed|modified|updated|edited|created|added|deleted|removed|new|touched)(?: \d+)?(?: (?:source |test )?(?:files?|paths?|modules?))?$/
  return isFiles.test(text.replace(/\s*\d+\s*$/, '').trim())
    ? {
        kind: 'files',
        isCreated: /\b(?:new|created)\b/.test(text),
        isGone: /\b(?:deleted|removed)\b/.test(text),
      }
    : openSection
}
const nothing: SentenceClaims = { claims: [], denied: [], takesBack: false }

function lineClaims(line: ReportLine, section: Section): SentenceClaims {
  const { tokens } = line
  const label = labelOf(tokens)
  if (label !== null && closing.test(wordsOf(label))) return { ...nothing, denied: deniedIn(tokens) }
  if (line.kind === 'item') {
    const item = itemClaims(tokens, section)
    if (item !== null) return { ...nothing, ...item }
  }
  const body = label === null ? tokens : tokens.slice(label.length + 1)
  const listed = label === null ? null : sectionOf(label)
  if (listed?.kind === 'files') {
    const group = pathGroup(body, 0)
    if (group !== null && isEnd(body[group.end])) return { ...nothing, claims: claimsOf(group.paths, listed) }
  }
  let result = nothing
  for (const sentence of sentencesOf(body)) {
    const found = sentenceClaims(sentence, line.kind)
    result = {
      claims: found.takesBack ? found.claims : [...result.claims, ...found.claims],
      denied: [...result.denied, ...found.denied],
      takesBack: result.takesBack || (found.takesBack && result.claims.length === 0),
    }
  }
  return result
}

interface ClaimedState {
  readonly isCreated: boolean
  readonly isGone: boolean
}

function claimsOf(paths: readonly string[], { isCreated, isGone }: ClaimedState): readonly ClaimedChange[] {
  return paths.map((path) => ({ path, isCreated, ...(isGone && { isGone }) }))
}

/** The words before the first colon: "Rate limit: added …". Not a sentence of its own. */
function labelOf(tokens: readonly ReportToken[]): readonly ReportToken[] | null {
  const colon = tokens.findIndex((token) => token.kind === 'mark' && token.text === ':')
  if (colon <= 0 || colon > 8 || colon === tokens.length - 1) return null
  const label = tokens.slice(0, colon)
  const isPlain = label.every((token) => token.kind === 'word' || token.kind === 'code' || isMark(token, '('))
  if (!isPlain) return null
  const startsWithVerb = label[0]?.kind === 'word' && changeVerb(label[0].text, 'past') !== null
  return startsWithVerb && sectionOf(label).kind === 'open' ? null : label
}

/** What follows a file denies something of it: "its API did not change", "with no changes to the API". */
const ofPart =
  /^(?:its|all|the (?!file\b))|\b(?:chang|edit|touch|modif|updat)\w*(?: (?:to|in|of))? (?:its|the (?!file\b))/

/** A list item that begins with paths: "`a.ts`: added …", "`a.ts` (new)", or one of a list of changed files. */
function itemClaims(tokens: readonly ReportToken[], section: Section): ReportClaims | null {
  const group = pathGroup(tokens, 0)
  if (group === null) {
    const [first] = tokens
    const isOfFile =
      section.kind === 'file' && first?.kind === 'word' && changeVerb(first.text, 'past') !== null
    if (!isOfFile || isDoubtful(wordsOf(tokens))) return null
    const { path, isCreated } = section
    const more = sentencesOf(tokens).map((sentence) => sentenceClaims(sentence, 'item'))
    return {
      claims: [{ path, isCreated }, ...more.flatMap((one) => one.claims)],
      denied: more.flatMap((one) => one.denied),
    }
  }
  const text = wordsOf(tokens)
  if (isDoubtful(text)) {
    const stated = beforeDenial(tokens)
    if (stated.length > group.end && stated.length < tokens.length && !isReturned(text))
      return itemClaims(stated, section)
    const [first = []] = sentencesOf(tokens.slice(group.end))
    const words = wordsOf(first)
    return {
      claims: [],
      denied: (isDenial(words) && !ofPart.test(words)) || isReturned(text) ? group.paths : [],
    }
  }
  const claim = (state: ClaimedState): ReportClaims => ({ claims: claimsOf(group.paths, state), denied: [] })
  const next = tokens[group.end]
  const isSeparated = next === undefined || isMark(next, ':') || isMark(next, '–')
  const [note] = group.note ?? []
  const word = note ?? (isSeparated ? wordAt(tokens, group.end + 1) : null)
  const isNew =
    word === 'new' ||
    (word !== null && changeVerb(word, 'past')?.creates === true && isEnd(tokens[group.end + 2]))
  const isParticiple = word !== null && changeVerb(word, 'past') !== null
  const isByOthers = /^\w+ by\b/.test(wordsOf(tokens.slice(group.end + 1)))
  if ((word === 'new' || isParticiple) && !isByOthers && (note !== undefined || isSeparated)) {
    const own = claim({
      isCreated: isNew || note === 'created' || note === 'added',
      isGone: changeVerb(word, 'past')?.takesFrom ?? false,
    })
    const rest = sentencesOf(tokens.slice(group.end + 1)).map((sentence) => sentenceClaims(sentence, 'item'))
    return {
      claims: [...own.claims, ...rest.flatMap((one) => one.claims)],
      denied: rest.flatMap((one) => one.denied),
    }
  }
  if (section.kind === 'files' && (isSeparated || group.note !== null)) return claim(section)
  return isSeparated ? { claims: [], denied: [] } : null
}
