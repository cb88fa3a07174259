import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  insertJson,
  type JsonFormat,
  type JsonInsertion,
  type JsonLocation,
  jsonFault,
  jsonValue,
  removeJson,
  replaceJson,
} from './json.ts'
import { type Json, printJsonValue } from './json-text.ts'
import { sectionIn, sectionText } from './section.ts'
import {
  appendTable,
  inlineTable,
  isTomlTable,
  replaceTable,
  type TomlTable,
  tableText,
  tomlFault,
  tomlTable,
} from './toml.ts'

/** The purpose of a change. */
export type SetupPart = 'server' | 'allow' | 'hooks' | 'skill' | 'rules'

/** Content that a file should have. */
export type Edit = { readonly part: SetupPart; readonly file: string } & (
  | {
      readonly kind: 'json'
      readonly format: JsonFormat
      readonly place: JsonLocation
      readonly value: Json
      /** `fits`: values that count as done. `olds`: values of earlier versions, which may be replaced. */
      readonly fits?: readonly Json[]
      readonly olds?: readonly Json[]
    }
  | {
      readonly kind: 'table'
      readonly table: TomlTable
      readonly fits?: readonly TomlTable[]
      readonly olds?: readonly TomlTable[]
    }
  | { readonly kind: 'section'; readonly lines: readonly string[] }
  | { readonly kind: 'file'; readonly text: string; readonly executable: boolean }
)

/** A change of a file, with the data to undo it. */
export type SetupChange = { readonly part: SetupPart; readonly owners: readonly string[] } & (
  | {
      readonly kind: 'added'
      readonly place: JsonLocation
      readonly value: Json
      readonly insertion: JsonInsertion
    }
  | {
      readonly kind: 'replaced'
      readonly keys: readonly string[]
      readonly value: Json
      readonly put: string
      readonly instead: string
    }
  | { readonly kind: 'text'; readonly put: string; readonly instead: string }
  | { readonly kind: 'whole'; readonly hash: string; readonly instead: string | null }
)

/** The result of an edit. */
export interface EditFinding {
  readonly part: SetupPart
  readonly file: string
  readonly state: 'written' | 'there' | 'refused'
  /** Why it was not done and the next step; null if there is no remark. */
  readonly says: string | null
}

/** The text of a file while it is edited; null where there is no file. */
export interface EditResult {
  readonly text: string | null
  readonly changes: readonly SetupChange[]
  readonly findings: readonly EditFinding[]
}

export interface EditContext {
  /** The setup that requests it: a change is undone with its last owner. */
  readonly owner: string
  readonly force: boolean
}

/** Applies edits one by one. A refused edit is a finding; the others are still applied. */
export function editFile(
  from: { readonly text: string | null; readonly changes: readonly SetupChange[] },
  edits: readonly Edit[],
  editing: EditContext,
): EditResult {
  return edits.reduce<EditResult>(
    (now, edit) => {
      const result = applyEdit(now, edit, editing)
      const { part, file } = edit
      const finding: EditFinding = { part, file, state: result.state, says: result.says ?? null }
      return {
        text: result.text === undefined ? now.text : result.text,
        changes: result.changes ?? now.changes,
        findings: [...now.findings, finding],
      }
    },
    { ...from, findings: [] },
  )
}

type EditOutcome = Pick<EditFinding, 'state'> &
  Partial<Pick<EditFinding, 'says'>> &
  Partial<Pick<EditResult, 'text' | 'changes'>>

type EditedText = Pick<EditResult, 'text' | 'changes'>

function applyEdit(now: EditedText, edit: Edit, editing: EditContext): EditOutcome {
  if (edit.kind === 'json') return editJson(now, edit, editing)
  if (edit.kind === 'table') return editTable(now, edit, editing)
  if (edit.kind === 'section') return editSection(now, edit, editing)
  return editWholeFile(now, edit, editing)
}

function editJson(
  now: EditedText,
  edit: Edit & { readonly kind: 'json' },
  { owner, force }: EditContext,
): EditOutcome {
  const { format, place, value, part, fits = [], olds = [] } = edit
  const text = now.text ?? ''
  const fault = jsonFault(text, format)
  const paste = `Paste this into ${parentPlace(place)} yourself: ${entryText(place, value)}`
  if (fault !== null) return { state: 'refused', says: `It was not touched: ${fault}. ${paste}` }
  const recorded = now.changes.find(
    (change) =>
      change.kind === 'added' &&
      isDeepStrictEqual(change.place, place) &&
      (!place.item || isDeepStrictEqual(change.value, value)),
  )
  const found = jsonValue(text, place.keys)
  const isThere = place.item
    ? Array.isArray(found) &&
      found.some((entry) => isDeepStrictEqual(entry, value) || isSameHook(entry, value))
    : [value, ...fits].some((fit) => isDeepStrictEqual(found, fit))
  if (isThere) return { state: 'there', changes: addOwnerToChange(now.changes, recorded, owner) }
  if (found === undefined || place.item) {
    const edited = insertJson(text, format, place, value)
    if ('refused' in edited)
      return { state: 'refused', says: `It was not touched: ${edited.refused}. ${paste}` }
    const changes = [
      ...now.changes.filter((change) => change !== recorded),
      { kind: 'added' as const, part, place, value, insertion: edited.insertion, owners: [owner] },
    ]
    return { state: 'written', text: edited.text, changes }
  }
  const isOurs = recorded?.kind === 'added' && isDeepStrictEqual(recorded.value, found)
  if (isOurs) {
    // Removes the old form completely first, so that nothing of it remains.
    const removed = removeJson(text, recorded.insertion, recorded)
    const cleared = {
      text: 'text' in removed ? removed.text : text,
      changes: removeChange(now.changes, recorded),
    }
    const again = editJson(cleared, edit, { owner, force })
    const owners = [...new Set([...recorded.owners, owner])]
    return {
      ...again,
      ...(again.changes && {
        changes: again.changes.map((change) =>
          isSameInsertion(change, place) ? { ...change, owners } : change,
        ),
      }),
    }
  }
  const isOld = olds.some((old) => isDeepStrictEqual(found, old))
  if (!isOld && !force) return foreignEntryRefusal(`"${place.keys.join('.')}": ${JSON.stringify(found)}`)
  const edited = replaceJson(text, format, place.keys, value)
  if ('refused' in edited)
    return { state: 'refused', says: `It was not touched: ${edited.refused}. ${paste}` }
  const { put, instead } = edited
  const change: SetupChange = {
    kind: 'replaced',
    part,
    keys: place.keys,
    value,
    put,
    instead,
    owners: [owner],
  }
  return { state: 'written', text: edited.text, changes: [...now.changes, change] }
}

/** The object or list that an entry belongs to, in words. */
function parentPlace({ keys, item }: JsonLocation): string {
  const parents = item ? keys : keys.slice(0, -1)
  return parents.length === 0 ? 'its top level' : `"${parents.join('.')}"`
}

function entryText({ keys, item }: JsonLocation, value: Json): string {
  const text = printJsonValue(value, { inline: true })
  return item ? text : `${JSON.stringify(keys.at(-1))}: ${text}`
}

function isSameInsertion(change: SetupChange, place: JsonLocation): boolean {
  return change.kind === 'added' && isDeepStrictEqual(change.place, place)
}

function editTable(
  now: EditedText,
  edit: Edit & { readonly kind: 'table' },
  { owner, force }: EditContext,
): EditOutcome {
  const { table, part, fits = [], olds = [] } = edit
  const text = now.text ?? ''
  const fault = tomlFault(text)
  const paste = `Paste this into it yourself: ${inlineTable(table)}`
  if (fault !== null) return { state: 'refused', says: `It was not touched: ${fault}.` }
  const recorded = now.changes.find((change) => change.kind === 'text' && change.part === part)
  const found = tomlTable(text, table.name)
  if (found === undefined) {
    const edited = appendTable(text, table)
    if ('refused' in edited)
      return { state: 'refused', says: `It was not touched: ${edited.refused}. ${paste}` }
    const { put, instead } = edited
    const changes = [
      ...removeChange(now.changes, recorded),
      { kind: 'text' as const, part, put, instead, owners: [owner] },
    ]
    return { state: 'written', text: edited.text, changes }
  }
  if ([table, ...fits].some((fit) => isTomlTable(found, fit))) {
    return { state: 'there', changes: addOwnerToChange(now.changes, recorded, owner) }
  }
  if (recorded?.kind === 'text' && text.includes(recorded.put)) {
    const cleared = text.replace(recorded.put, () => recorded.instead)
    return editTable({ text: cleared, changes: removeChange(now.changes, recorded) }, edit, { owner, force })
  }
  const isOld = olds.some((old) => isTomlTable(found, old))
  if (!isOld && !force) return foreignEntryRefusal(`[${table.name.join('.')}] ${JSON.stringify(found)}`)
  const edited = replaceTable(text, table)
  if ('refused' in edited)
    return { state: 'refused', says: `It was not touched: ${edited.refused}. ${paste}` }
  const { put, instead } = edited
  const changes = [...now.changes, { kind: 'text' as const, part, put, instead, owners: [owner] }]
  return { state: 'written', text: edited.text, changes }
}

function editSection(
  now: EditedText,
  edit: Edit & { readonly kind: 'section' },
  { owner }: EditContext,
): EditOutcome {
  const { lines, part } = edit
  const text = now.text ?? ''
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const section = sectionIn(text, lines)
  const recorded = now.changes.find((change) => change.kind === 'text' && change.part === part)
  if (section.state === 'current')
    return { state: 'there', changes: addOwnerToChange(now.changes, recorded, owner) }
  if (section.state === 'edited') {
    return { state: 'there', says: 'Its section of Waymark was edited and is left alone.' }
  }
  const body = sectionText(lines, eol)
  if (section.state === 'stale') {
    const put = recorded?.kind === 'text' ? recorded.put.replace(section.text, () => body) : body
    const instead = recorded?.kind === 'text' ? recorded.instead : section.text
    const change: SetupChange = {
      kind: 'text',
      part,
      put,
      instead,
      owners: [...new Set([...(recorded?.owners ?? []), owner])],
    }
    return {
      state: 'written',
      text: text.replace(section.text, () => body),
      changes: [...removeChange(now.changes, recorded), change],
    }
  }
  const gap = text === '' || /\n\r?\n$/.test(text) ? '' : text.endsWith('\n') ? eol : eol + eol
  const put = gap + body
  const change: SetupChange = { kind: 'text', part, put, instead: '', owners: [owner] }
  return { state: 'written', text: text + put, changes: [...removeChange(now.changes, recorded), change] }
}

function editWholeFile(
  now: EditedText,
  edit: Edit & { readonly kind: 'file' },
  { owner, force }: EditContext,
): EditOutcome {
  const { text, part } = edit
  const recorded = now.changes.find((change) => change.kind === 'whole')
  if (now.text === text) return { state: 'there', changes: addOwnerToChange(now.changes, recorded, owner) }
  const isOurs = now.text !== null && recorded?.kind === 'whole' && recorded.hash === fileHash(now.text)
  if (now.text !== null && now.text !== '' && !isOurs && !force) {
    return {
      state: 'refused',
      says: 'It was not touched: there is another file of that name; --force replaces it.',
    }
  }
  const instead = isOurs ? recorded.instead : now.text
  const owners = isOurs ? [...new Set([...recorded.owners, owner])] : [owner]
  const change: SetupChange = { kind: 'whole', part, hash: fileHash(text), instead, owners }
  return { state: 'written', text, changes: [...removeChange(now.changes, recorded), change] }
}

function foreignEntryRefusal(entry: string): EditOutcome {
  return {
    state: 'refused',
    says: `It was not touched: there is an entry of that name that is not ours, ${entry}. --force replaces it.`,
  }
}

function addOwnerToChange(
  changes: readonly SetupChange[],
  change: SetupChange | undefined,
  owner: string,
): readonly SetupChange[] {
  if (!change || change.owners.includes(owner)) return changes
  return changes.map((one) => (one === change ? { ...change, owners: [...change.owners, owner] } : one))
}

function removeChange(
  changes: readonly SetupChange[],
  change: SetupChange | undefined,
): readonly SetupChange[] {
  return changes.filter((one) => one !== change)
}

/** Undoes changes from the last to the first. Content that was edited since stays. */
export function revertChanges(
  text: string | null,
  changes: readonly SetupChange[],
): {
  readonly text: string | null
  readonly kept: readonly { readonly change: SetupChange; readonly at: string }[]
} {
  const kept: { readonly change: SetupChange; readonly at: string }[] = []
  let now = text
  for (const change of changes.toReversed()) {
    if (now === null) break
    const back = revertChange(now, change)
    if ('changed' in back) kept.push({ change, at: back.changed })
    if ('text' in back) now = back.text
  }
  return { text: now, kept }
}

type UndoResult = { readonly text: string | null } | { readonly changed: string } | { readonly missing: true }

function revertChange(text: string, change: SetupChange): UndoResult {
  if (change.kind === 'added') {
    const back = removeJson(text, change.insertion, change)
    return 'missing' in back ? (removeEditedHook(text, change) ?? back) : back
  }
  if (change.kind === 'replaced') return restoreReplaced(text, change)
  if (change.kind === 'whole') {
    return fileHash(text) === change.hash ? { text: change.instead } : { changed: 'all of it' }
  }
  const at = text.indexOf(change.put)
  if (at >= 0) return { text: text.slice(0, at) + change.instead + text.slice(at + change.put.length) }
  // Somebody may have removed the blank line that it began with.
  const core = change.put.trim()
  const line = /^(?:\[[^\]\n]+\]|<!-- waymark:begin)/m.exec(core)?.[0] ?? core
  const start = text.indexOf(core)
  if (start >= 0) {
    const end = start + core.length
    const rest = /^\r?\n/.exec(text.slice(end))?.[0].length ?? 0
    return { text: text.slice(0, start) + change.instead + text.slice(end + rest) }
  }
  const found = text.indexOf(line)
  return found < 0 ? { missing: true } : { changed: `line ${text.slice(0, found).split('\n').length}` }
}

/** A hook with our command is ours, even with another timeout or matcher. */
function removeEditedHook(text: string, change: SetupChange & { readonly kind: 'added' }): UndoResult | null {
  const { place, value, insertion } = change
  const list = place.item ? jsonValue(text, place.keys) : null
  const edited: Json | undefined = Array.isArray(list)
    ? list.find((entry) => isSameHook(entry, value))
    : undefined
  return edited === undefined ? null : removeJson(text, insertion, { place, value: edited })
}

/** Whether two registered hooks run the same commands. */
export function isSameHook(one: unknown, other: unknown): boolean {
  const commands = commandsIn(one)
  return commands.length > 0 && isDeepStrictEqual(commands, commandsIn(other))
}

function commandsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(commandsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string'
      ? ['command', 'bash', 'powershell'].includes(key)
        ? [inner]
        : []
      : commandsIn(inner),
  )
}

function restoreReplaced(
  text: string,
  { keys, value, put, instead }: SetupChange & { readonly kind: 'replaced' },
): UndoResult {
  const found = jsonValue(text, keys)
  if (found === undefined) return { missing: true }
  if (!isDeepStrictEqual(found, value)) return { changed: keys.join('.') }
  const at = text.indexOf(put)
  if (at < 0 || text.indexOf(put, at + 1) >= 0) return { changed: keys.join('.') }
  return { text: text.slice(0, at) + instead + text.slice(at + put.length) }
}

/** Removes an unrecorded entry only if setup would write exactly the same. */
export function removeEdit(text: string, edit: Edit): string | null {
  if (edit.kind === 'json') {
    const values = [edit.value, ...(edit.fits ?? []), ...(edit.olds ?? [])]
    for (const value of values) {
      const nothing = { put: '\u0000', core: [0, 0] as const, at: edit.place }
      const removed = removeJson(text, nothing, { place: edit.place, value })
      if ('text' in removed) return removed.text
    }
    return null
  }
  if (edit.kind === 'table') {
    const found = tomlTable(text, edit.table.name)
    const table = [edit.table, ...(edit.fits ?? []), ...(edit.olds ?? [])].find((fit) =>
      isTomlTable(found, fit),
    )
    if (!table) return null
    const block = tableText(table, text.includes('\r\n') ? '\r\n' : '\n')
    const back = revertChange(text, { kind: 'text', part: edit.part, owners: [], put: block, instead: '' })
    return 'text' in back ? back.text : null
  }
  return null
}

export function fileHash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
