import { posix, win32 } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { formatCount, joinNames } from '../../kernel/text.ts'
import type {
  Client,
  ConfigEntry,
  HookFileInput,
  HookSetup,
  ServerEntryLocation,
  TextReader,
} from './client.ts'
import { hookWords, type LaunchMethod, serverCommand } from './commands.ts'
import {
  type Edit,
  type EditFinding,
  editFile,
  isSameHook,
  removeEdit,
  revertChanges,
  type SetupChange,
} from './edit/edit-file.ts'
import { jsonValue } from './edit/json.ts'
import { tomlTable } from './edit/toml.ts'
import { hasOurHook, lineOfHook } from './hook-shapes.ts'
import { clientNamed } from './setup-clients.ts'
import { pathsOf, type SetupContext, type SetupScope } from './setup-context.ts'

/** What a person asked for. */
export interface SetupRequest {
  /** Null: the project where the client has such a file, else the user. */
  readonly scope: SetupScope | null
  readonly allow: boolean
  readonly rules: boolean
  readonly hooks: boolean
  /** Files of a project are committed, for everybody who works in it: hooks stand in these, and entries name the program. */
  readonly shared: boolean
  readonly capture: boolean
  readonly toolsets: string | null
  readonly npx: boolean
  readonly force: boolean
}

/** What comes with the program. */
export interface ProgramAssets {
  /** The names of Waymark's tools. */
  readonly tools: readonly string[]
  /** The text of the skill. */
  readonly skill: string
}

export interface SetupPlanInput {
  readonly ground: SetupContext
  readonly asked: SetupRequest
  readonly supplies: ProgramAssets
  /** What is on disk, and what was done to it before. */
  readonly read: TextReader
  /** Why a file cannot be edited, whatever is in it. */
  readonly fault: (file: string) => string | null
  /** The files that a path with `*` in its name means. */
  readonly expand: (pattern: string) => readonly string[]
  readonly changesOf: (file: string) => readonly SetupChange[]
}

/** A file as it will be. `text` null: it goes. */
export interface PlannedFile {
  readonly file: string
  readonly before: string | null
  readonly text: string | null
  /** What it would be if setup had never touched it. */
  readonly without: string | null
  readonly changes: readonly SetupChange[]
  readonly executable: boolean
}

export interface SetupPlan {
  readonly files: readonly PlannedFile[]
  readonly findings: readonly EditFinding[]
  /** What was not done and why, each sentence once. */
  readonly notes: readonly string[]
  /** What is left for the person to do. */
  readonly afterwards: readonly string[]
  /** Clients of which nothing is written, each with why, in one line. */
  readonly skipped: readonly string[]
}

/**
 * The new files for some clients, one after the other: each sees what the ones before it are going to write. A client of
 * which a part is refused is left as it is.
 */
export function planSetup(clients: readonly Client[], planning: SetupPlanInput): SetupPlan {
  return clients.reduce<SetupPlan>(
    (plan, client) => {
      const { files, findings, notes, afterwards } = planClient(
        client,
        overlayPlannedFiles(planning, plan.files),
      )
      const isRefused = findings.some(({ state }) => state === 'refused')
      const others = plan.files.filter(({ file }) => !files.some((one) => one.file === file))
      return {
        files: isRefused ? plan.files : [...others, ...files],
        findings: [...plan.findings, ...findings],
        notes: isRefused ? plan.notes : [...new Set([...plan.notes, ...notes])],
        afterwards: isRefused ? plan.afterwards : [...new Set([...plan.afterwards, ...afterwards])],
        skipped: isRefused ? [...plan.skipped, skippedLine(client, findings)] : plan.skipped,
      }
    },
    { files: [], findings: [], notes: [], afterwards: [], skipped: [] },
  )
}

function skippedLine({ title }: Client, findings: readonly EditFinding[]): string {
  const refused = findings.filter(({ state }) => state === 'refused')
  const why = [...new Set(refused.map(({ file, says }) => `${file}: ${says ?? 'refused'}`))]
  return `Skipped ${title}: ${why.join(' ')}`
}

interface SetupPlanOverlay extends SetupPlanInput {
  /** The file as it stands on the disk, without what is planned. */
  readonly start: (file: string) => Pick<PlannedFile, 'before' | 'without'>
}

function overlayPlannedFiles(planning: SetupPlanInput, planned: readonly PlannedFile[]): SetupPlanOverlay {
  const files = new Map(planned.map((one) => [one.file, one]))
  return {
    ...planning,
    read: (file) => {
      const found = files.get(file)
      return found ? found.text : planning.read(file)
    },
    changesOf: (file) => files.get(file)?.changes ?? planning.changesOf(file),
    start: (file) => {
      const before = planning.read(file)
      return files.get(file) ?? { before, without: revertChanges(before, planning.changesOf(file)).text }
    },
  }
}

function planClient(client: Client, planning: SetupPlanOverlay): Omit<SetupPlan, 'skipped'> {
  const { read, changesOf, start, asked } = planning
  const requested = requestedEdits(client, planning)
  const owner = ownerOf(client, planning)
  const edited = [...groupEditsByFile(requested.edits)].map(([file, edits]) => {
    const fault = planning.fault(file)
    if (fault !== null) return { findings: edits.map((edit) => faultFinding(edit, fault)) }
    const from = withoutStale({ text: read(file), changes: changesOf(file) }, edits, owner)
    const { text, changes, findings } = editFile(from, edits, { owner, force: asked.force })
    const executable = edits.some((edit) => edit.kind === 'file' && edit.executable)
    const { before, without } = start(file)
    return { findings, planned: { file, before, without, text, changes, executable } }
  })
  const shared = requested.shared.map((file) => {
    const { before, without } = start(file)
    const changes = changesOf(file).map((change) => addOwner(change, owner))
    return { file, before, without, text: read(file), changes, executable: false }
  })
  return {
    files: [...edited.flatMap(({ planned }) => planned ?? []), ...shared],
    findings: edited.flatMap(({ findings }) => findings),
    notes: requested.notes,
    afterwards: requested.afterwards,
  }
}

function faultFinding({ part, file }: Edit, fault: string): EditFinding {
  return { part, file, state: 'refused', says: `It was not touched: ${fault}.` }
}

function addOwner(change: SetupChange, owner: string): SetupChange {
  if (change.part !== 'server' || change.owners.includes(owner)) return change
  return { ...change, owners: [...change.owners, owner] }
}

/** Whose a change is: a project's setup of one client does not end with that of another project. */
function ownerOf(client: Client, { ground, asked }: Pick<SetupPlanInput, 'ground' | 'asked'>): string {
  const isProjects = client.namesProject === true || scopeOf(client, { ground, asked }) === 'project'
  return isProjects ? `${client.id} ${ground.folder}` : client.id
}

/** Whether a change is of the setup of a project, or of its user, which is that of all projects. */
export function isForProject({ owners }: SetupChange, { folder }: SetupContext): boolean {
  return owners.some((owner) => !owner.includes(' ') || owner.endsWith(` ${folder}`))
}

export function scopeOf(
  client: Client,
  { ground, asked }: Pick<SetupPlanInput, 'ground' | 'asked'>,
): SetupScope {
  if (asked.scope === 'user' || client.server(ground, 'project') === null) return 'user'
  return 'project'
}

function groupEditsByFile(edits: readonly Edit[]): ReadonlyMap<string, readonly Edit[]> {
  const files = new Map<string, readonly Edit[]>()
  for (const edit of edits) files.set(edit.file, [...(files.get(edit.file) ?? []), edit])
  return files
}

/** Hooks of an earlier setup that are asked for no more, or in another form, make way for the new ones. */
function withoutStale(
  from: { readonly text: string | null; readonly changes: readonly SetupChange[] },
  edits: readonly Edit[],
  owner: string,
) {
  const hooks = edits.filter(({ part }) => part === 'hooks')
  if (hooks.length === 0) return from
  const stale = from.changes.filter(
    (change) =>
      change.part === 'hooks' &&
      change.kind === 'added' &&
      isDeepStrictEqual(change.owners, [owner]) &&
      !hooks.some((edit) => edit.kind === 'json' && isDeepStrictEqual(edit.value, change.value)),
  )
  if (stale.length === 0) return from
  const { text, kept } = revertChanges(from.text, stale)
  const gone = stale.filter((change) => !kept.some((one) => one.change === change))
  return { text, changes: from.changes.filter((change) => !gone.includes(change)) }
}

interface EditRequest {
  readonly edits: readonly Edit[]
  readonly notes: readonly string[]
  readonly afterwards: readonly string[]
  /** Files whose entry, another client's, serves this one too. */
  readonly shared: readonly string[]
}

function requestedEdits(client: Client, planning: SetupPlanInput): EditRequest {
  const server = serverEdits(client, planning)
  const parts = [
    server,
    permissionEdits(client, planning),
    requestedHookEdits(client, planning),
    skillEdits(client, planning),
    ruleEdits(client, planning),
  ]
  const { scope, asked } = { scope: scopeOf(client, planning), asked: planning.asked }
  const afterwards = client.afterwards?.({
    scope,
    server: server.edits !== undefined,
    allow: asked.allow,
    hooks: asked.hooks && client.hooks.kind === 'hooks',
  })
  return {
    edits: parts.flatMap(({ edits = [] }) => edits),
    notes: parts.flatMap(({ notes = [] }) => notes),
    afterwards: [...(afterwards ?? []), ...parts.flatMap(({ afterwards = [] }) => afterwards)],
    shared: parts.flatMap(({ shared = [] }) => shared),
  }
}

/** The edit that puts the server's entry into a file; for the file of one scope, or another of its own. */
function serverEdit(
  client: Client,
  { ground, asked, supplies, read }: Pick<SetupPlanInput, 'ground' | 'asked' | 'supplies' | 'read'>,
  place: ServerEntryLocation,
): Edit {
  const scope = scopeOf(client, { ground, asked })
  const more = asked.toolsets === null ? [] : ['--toolsets', asked.toolsets]
  const way = launchMethod(scope, read(place.file), { ground, asked })
  const command = serverCommand(ground, way, more)
  const wanted = { ...command, ground, tools: supplies.tools }
  const isInEntry = client.allow.kind === 'entry'
  const entry = client.entry({ ...wanted, allow: asked.allow && isInEntry })
  const freely = client.entry({ ...wanted, allow: isInEntry })
  // What setup writes with other words of the command line is its own, and may be replaced.
  const ways: readonly LaunchMethod[] =
    scope === 'project' ? ['name', 'npx', 'absolute'] : ['absolute', 'npx']
  const all = ways.flatMap((other) => {
    const command = serverCommand(ground, other, more)
    const form = { ...command, ground, tools: supplies.tools }
    return [
      client.entry({ ...form, allow: false }),
      client.entry({ ...form, allow: true }),
      ...(client.formerly?.({ ...form, allow: false }) ?? []),
    ]
  })
  return entryEdit(place, entry, { fits: asked.allow ? [] : [freely], olds: all })
}

function entryEdit(
  { file, holder }: ServerEntryLocation,
  entry: ConfigEntry,
  others: { readonly fits: readonly ConfigEntry[]; readonly olds: readonly ConfigEntry[] },
): Edit {
  if (holder.kind === 'json' && entry.kind === 'json') {
    const values = (entries: readonly ConfigEntry[]) =>
      entries.flatMap((other) => (other.kind === 'json' ? [other.value] : []))
    const { format, keys } = holder
    return {
      kind: 'json',
      part: 'server',
      file,
      format,
      place: { keys, item: false },
      value: entry.value,
      fits: values(others.fits),
      olds: values(others.olds),
    }
  }
  if (entry.kind !== 'toml') throw new Error(`${file} takes an entry of another kind.`)
  const tables = (entries: readonly ConfigEntry[]) =>
    entries.flatMap((other) => (other.kind === 'toml' ? [other.table] : []))
  return {
    kind: 'table',
    part: 'server',
    file,
    table: entry.table,
    fits: tables(others.fits),
    olds: tables(others.olds),
  }
}

/** A new file is this user's alone, and may name this copy by its path; one that was there is perhaps everybody's. */
function launchMethod(
  scope: SetupScope,
  text: string | null,
  { ground: { program }, asked }: Pick<SetupPlanInput, 'ground' | 'asked'>,
): LaunchMethod {
  if (asked.npx) return 'npx'
  if (scope === 'user') return 'absolute'
  const isOwn = text === null || text.includes(JSON.stringify(program.bin).slice(1, -1))
  return isOwn && !asked.shared && !program.isNamed ? 'absolute' : 'name'
}

function serverEdits(client: Client, planning: SetupPlanInput): Partial<EditRequest> {
  const { ground, read } = planning
  const plugin = client.plugin?.(ground, read) ?? null
  if (plugin !== null) {
    const says = `${client.title} has the server from its plugin, which ${plugin} switches on.`
    const isAsked = planning.asked.allow && client.allow.kind === 'entry'
    const unsaid = `${client.title} has no entry that could allow its tools: say so there at the first call.`
    return { notes: isAsked ? [says, unsaid] : [says] }
  }
  const scope = scopeOf(client, planning)
  const named = client.server(ground, scope)
  if (named === null) return {}
  const sameFile = client.otherName?.(ground, scope)
  const isThere = sameFile !== undefined && read(sameFile.file) !== null && read(named.file) === null
  const place = isThere ? sameFile : named
  const other = scope === 'project' ? 'user' : 'project'
  const elsewhere = [client.server(ground, other), ...(client.seesServers?.(ground) ?? [])].find(
    (seen) => seen !== null && seen.file !== place.file && hasServerAt(seen, read),
  )
  if (elsewhere && !hasServerAt(place, read)) {
    const says = `${client.title} finds the server in ${elsewhere.file} already, so there is no second entry in ${place.file}.`
    return { notes: [says], shared: [elsewhere.file] }
  }
  const also = client.alsoWrites?.(ground)
  const places = also && read(also.file) !== null ? [place, also] : [place]
  return {
    edits: places.map((one) => serverEdit(client, planning, one)),
    notes: launchMethod(scope, read(place.file), planning) === 'name' ? pathHints(ground) : [],
  }
}

/** What is said where a file of the project names a program that the client will not find. */
function pathHints({ program }: SetupContext): readonly string[] {
  if (program.isNamed) return []
  return [
    `waymark is not on the PATH, where clients look for it: npm install --global puts it there. Or add --user, whose files name this copy by its path.`,
  ]
}

/** Whether an entry of Waymark stands at a place, whosever it is. */
export function hasServerAt({ file, holder }: ServerEntryLocation, read: TextReader): boolean {
  const text = read(file)
  if (text === null) return false
  return holder.kind === 'json'
    ? jsonValue(text, holder.keys) !== undefined
    : tomlTable(text, holder.name) !== undefined
}

function permissionEdits(client: Client, planning: SetupPlanInput): Partial<EditRequest> {
  const { ground, asked, supplies } = planning
  const { allow } = client
  if (!asked.allow) return {}
  if (allow.kind === 'person') return { notes: [allow.says] }
  if (allow.kind !== 'files') return {}
  const scope = scopeOf(client, planning)
  const byPlugin = client.plugin !== undefined && client.plugin(ground, planning.read) !== null
  const at = { ground, scope, tools: supplies.tools, byPlugin }
  return { edits: allow.edits(at), notes: allow.says?.(at) ?? [] }
}

function requestedHookEdits(client: Client, planning: SetupPlanInput): Partial<EditRequest> {
  const { ground, asked, read, changesOf } = planning
  const { hooks } = client
  if (hooks.kind === 'none') return asked.hooks ? { notes: [hooks.says] } : {}
  const scope = scopeOf(client, planning)
  const file = hookFile(hooks, ground, { scope, shared: asked.shared })
  const plugin = client.plugin?.(ground, read) ?? null
  if (!asked.hooks) {
    const seen = [file, ...(hooks.sees?.(ground) ?? [])].flatMap((one) =>
      one.includes('*') ? planning.expand(one) : [one],
    )
    if (plugin !== null || seen.some((one) => hasOurHook(read(one) ?? ''))) return {}
    return { notes: ['Sessions of agents are recorded only with --hooks.'] }
  }
  if (plugin !== null) {
    return { notes: [`${client.title} has the hooks from its plugin, which ${plugin} switches on.`] }
  }
  const elsewhere = (hooks.sees?.(ground) ?? [])
    .flatMap((seen) => (seen.includes('*') ? planning.expand(seen) : [seen]))
    .find((seen) => seen !== file && hasOurHook(read(seen) ?? ''))
  if (elsewhere !== undefined) {
    return {
      notes: [`${client.title} runs the hooks in ${elsewhere} already, so none were added to ${file}.`],
    }
  }
  const guarded = isCommitted(file, ground) && file !== hooks.own?.(ground)
  const way = guarded ? 'name' : 'absolute'
  const edits = hookEdits(client, { ground, file, way, guarded, capture: asked.capture })
  if (isForeignHook(edits, { read, changesOf })) {
    return {
      notes: [
        `${file} holds hooks of Waymark that setup did not write: they were left as they are, and none were added.`,
      ],
    }
  }
  const says = guarded
    ? [sharedHooks(file), ...pathHints(ground)]
    : scope === 'project'
      ? [ownHooks(file)]
      : []
  return { edits, notes: says }
}

/** The file that the hooks of a client go to. */
function hookFile(
  { file, own }: HookSetup,
  ground: SetupContext,
  { scope, shared }: { readonly scope: SetupScope; readonly shared: boolean },
): string {
  if (scope === 'user' || shared) return file(ground, scope)
  return own?.(ground) ?? file(ground, 'user')
}

function ownHooks(file: string): string {
  return `The hooks are in your own file ${file}, which is not for the repository. --shared puts them into the project's.`
}

function sharedHooks(file: string): string {
  return `${file} is shared with the project. Where waymark is missing its hooks do nothing in a POSIX shell; on Windows without one they fail.`
}

/** What registers a client's hooks in a file: those of the gate, and with `capture` those that only record. */
export function hookEdits(
  { id, hooks }: Client,
  {
    capture,
    ...registered
  }: Pick<HookFileInput, 'ground' | 'file' | 'way' | 'guarded'> & { readonly capture: boolean },
): readonly Edit[] {
  if (hooks.kind === 'none') return []
  const { ground, way } = registered
  const events = hooks.events
    .filter(({ gate }) => capture || gate !== undefined)
    .map((event) => ({
      name: event.name,
      words: hookWords(ground, { client: hooks.as ?? id, event: event.name, gate: event.gate ?? null }, way),
      // The gate looks at every tool; a recorder alone only at those that may change something.
      matcher: event.gate === 'pre-tool-use' ? '*' : (event.matcher ?? null),
      isAsync: event.isAsync === true,
      seconds: event.seconds ?? (event.gate === undefined ? 5 : 10),
      judges: event.gate !== undefined,
    }))
  return hooks.edits({ ...registered, events })
}

/** A file that goes into the repository names commands that every machine knows. */
function isCommitted(file: string, { folder, platform }: SetupContext): boolean {
  return file.startsWith(`${folder}${platform === 'win32' ? win32.sep : posix.sep}`)
}

/** Hooks of Waymark that stand in a file, neither recorded nor what setup would write. */
function isForeignHook(
  edits: readonly Edit[],
  { read, changesOf }: Pick<SetupPlanInput, 'read' | 'changesOf'>,
): boolean {
  return edits.some((edit) => {
    if (edit.kind !== 'json' || !edit.place.item) return false
    const list = jsonValue(read(edit.file) ?? '', edit.place.keys)
    if (!Array.isArray(list)) return false
    const known = changesOf(edit.file).flatMap((change) => (change.kind === 'added' ? [change.value] : []))
    return list.some(
      (entry) =>
        hasOurHook(JSON.stringify(entry)) &&
        !isSameHook(entry, edit.value) &&
        !known.some((value) => isDeepStrictEqual(value, entry)),
    )
  })
}

function skillEdits(client: Client, planning: SetupPlanInput): Partial<EditRequest> {
  const { ground, read, supplies } = planning
  const [own] = client.skills
  if (own === undefined || (client.plugin?.(ground, read) ?? null) !== null) return {}
  const { project, home } = pathsOf(ground)
  const scope = scopeOf(client, planning)
  const fileIn = (folder: string, at: SetupScope) =>
    (at === 'project' ? project : home)(...folder.split('/'), 'waymark', 'SKILL.md')
  const file = fileIn(own, scope)
  const isSeen = client.skills.some((folder) =>
    (['project', 'user'] as const).some(
      (at) => fileIn(folder, at) !== file && read(fileIn(folder, at)) !== null,
    ),
  )
  if (isSeen && read(file) === null) return {}
  return { edits: [{ kind: 'file', part: 'skill', file, text: supplies.skill, executable: false }] }
}

/** What a text for agents says of Waymark. */
const ruleLines: readonly string[] = [
  '## Waymark',
  '',
  'This project records its work with Waymark (MCP server `waymark`).',
  '- Before the first edit: `start_task` with the scope (`areas`) that will change; afterwards `complete_task`.',
  '- Stay in scope; declare more with another `start_task` before editing elsewhere.',
  '- Questions for a person: `log_issue` with `requires_human_review`.',
]

function ruleEdits(client: Client, planning: SetupPlanInput): Partial<EditRequest> {
  const { ground, asked, read } = planning
  if (!asked.rules) return {}
  const scope = scopeOf(client, planning)
  const own = client.rules(ground, scope)
  if (own === null) {
    const says = `${client.title} reads no file of rules ${scope === 'user' ? 'for all projects' : 'in a project'}: none were added.`
    return { notes: [says] }
  }
  // A text that only leads to AGENTS.md is read together with it.
  const shared = pathsOf(ground).project('AGENTS.md')
  const leads =
    scope === 'project' && own !== shared && /^[ \t]*@(?:\.\/)?AGENTS\.md[ \t]*\r?$/m.test(read(own) ?? '')
  return { edits: [{ kind: 'section', part: 'rules', file: leads ? shared : own, lines: ruleLines }] }
}

export interface SetupUndoInput {
  readonly ground: SetupContext
  readonly asked: SetupRequest
  readonly supplies: ProgramAssets
  readonly read: TextReader
  /** Every file that setup has changed, with its changes, whether it is as setup left it, and what it was before. */
  readonly recorded: readonly SetupRecord[]
}

export interface SetupRecord {
  readonly file: string
  readonly changes: readonly SetupChange[]
  readonly asWeLeftIt: boolean
  /** Null: there was no file. */
  readonly before: string | null
}

export interface SetupUndo {
  readonly files: readonly PlannedFile[]
  /** What stays although it was asked to go, each as a sentence. */
  readonly kept: readonly string[]
  readonly notes: readonly string[]
  /** Clients that are set up in the other scope alone: that is the one that is meant. */
  readonly elsewhere: readonly string[]
}

/** What takes back the setup of some clients: the bytes before, or, where others changed a file since, our part of it. */
export function planUndo(clients: readonly Client[], undoing: SetupUndoInput): SetupUndo {
  const owners = clients.map((client) => ownerOf(client, undoing))
  const kept: string[] = []
  const notes: string[] = []
  const inOrder = undoing.recorded.toSorted((one, other) => (one.file < other.file ? -1 : 1))
  const files = inOrder.flatMap(({ file, changes, asWeLeftIt, before }) => {
    if (!changes.some((change) => change.owners.some((owner) => owners.includes(owner)))) return []
    const left = changes.flatMap((change) => {
      const others = change.owners.filter((owner) => !owners.includes(owner))
      return others.length === 0 ? [] : [{ ...change, owners: others }]
    })
    const going = changes.filter((change) => change.owners.every((owner) => owners.includes(owner)))
    const text = undoing.read(file)
    if (left.length > 0 && going.length === 0)
      notes.push(`${file} stays: ${sharedOwnerNames(left, undoing)}.`)
    const same = { file, before: text, without: before, changes: left, executable: false }
    if (left.length === 0 && asWeLeftIt) return [{ ...same, text: before }]
    const back = revertChanges(text, going)
    for (const { change, at } of back.kept) {
      kept.push(`${file}: ${partNames[change.part]} was edited since (${at}) and stays.`)
    }
    if (left.length === 0 && back.kept.length === 0 && back.text !== text) {
      notes.push(`${file} was changed by others since: only what setup had put in was taken out.`)
    }
    const isEmpty = before === null && isBare(back.text ?? '')
    const staying = back.kept.map(({ change }) => change)
    const without = revertChanges(text, changes).text
    return [{ ...same, without, changes: [...left, ...staying], text: isEmpty ? null : back.text }]
  })
  const unrecorded = clients.flatMap((client) => removeUnrecordedServer(client, undoing))
  const all = [...files, ...unrecorded.filter(({ file }) => !files.some((one) => one.file === file))]
  const hooks = clients
    .flatMap((client) => remainingHooks(client, all, undoing))
    .filter((said) => !kept.some((one) => one.startsWith(`${said.file}:`)))
  return {
    files: all,
    kept: [...new Set([...kept, ...hooks.map(({ says }) => says)])],
    notes,
    elsewhere: clients.flatMap((client) => otherScopeNotes(client, undoing)),
  }
}

/** Hooks of ours that the client would go on running, though nobody is recorded who wants them. */
function remainingHooks(
  client: Client,
  files: readonly PlannedFile[],
  { ground, asked, read, recorded }: SetupUndoInput,
): readonly { readonly file: string; readonly says: string }[] {
  const { hooks } = client
  if (hooks.kind === 'none') return []
  const scope = scopeOf(client, { ground, asked })
  const places = [true, false].map((shared) => hookFile(hooks, ground, { scope, shared }))
  return [...new Set(places)].flatMap((file) => remainingHookLine(file, files, { read, recorded }))
}

function remainingHookLine(
  file: string,
  files: readonly PlannedFile[],
  { read, recorded }: Pick<SetupUndoInput, 'read' | 'recorded'>,
): readonly { readonly file: string; readonly says: string }[] {
  const planned = files.find((one) => one.file === file)
  const changes = planned?.changes ?? recorded.find((one) => one.file === file)?.changes ?? []
  const line = lineOfHook((planned ? planned.text : read(file)) ?? '')
  if (line === 0 || changes.some(({ part }) => part === 'hooks')) return []
  const says = `${file}: line ${line} still holds a hook of Waymark, which setup did not write as it is. It goes on running until you remove it.`
  return [{ file, says }]
}

function otherScopeNotes(client: Client, { ground, asked, recorded }: SetupUndoInput): readonly string[] {
  const [own, other] = asked.scope === 'user' ? (['user', null] as const) : ([null, 'user'] as const)
  const isOf = (owner: string) =>
    recorded.some(({ changes }) => changes.some(({ owners }) => owners.includes(owner)))
  const owner = (scope: typeof own) => ownerOf(client, { ground, asked: { ...asked, scope } })
  if (isOf(owner(own)) || !isOf(owner(other))) return []
  return [
    own === 'user'
      ? `${client.title} is set up in ${ground.folder}: leave --user out.`
      : `${client.title} is set up for all your projects: add --user.`,
  ]
}

/** Whether nothing is left in a file of ours. */
export function isBare(text: string): boolean {
  return /^\s*(?:\{\s*\}\s*)?$/.test(text)
}

const partNames = {
  server: "the server's entry",
  allow: 'the permission of its tools',
  hooks: 'a hook',
  skill: 'the skill',
  rules: 'the section of rules',
} satisfies Record<SetupChange['part'], string>

function sharedOwnerNames(
  changes: readonly SetupChange[],
  { ground }: Pick<SetupUndoInput, 'ground'>,
): string {
  const names = changes.flatMap(({ owners }) =>
    owners.map((owner) => {
      const [id = '', ...words] = owner.split(' ')
      const folder = words.join(' ')
      const title = clientNamed(id)?.title ?? id
      if (folder === '') return `${title} in all your projects`
      return folder === ground.folder ? title : `${title} in ${folder}`
    }),
  )
  const all = [...new Set(names)]
  return `${joinNames(all)} ${all.length === 1 ? 'uses' : 'use'} it too`
}

/** On a machine that recorded nothing of it: the entry goes where it is exactly what setup would write. */
function removeUnrecordedServer(client: Client, undoing: SetupUndoInput): readonly PlannedFile[] {
  const place = client.server(undoing.ground, scopeOf(client, undoing))
  if (place === null || undoing.recorded.some(({ file }) => file === place.file)) return []
  const text = undoing.read(place.file)
  const edit = serverEdit(client, undoing, place)
  const out = text === null ? null : removeEdit(text, edit)
  if (text === null || out === null) return []
  return [{ file: place.file, before: text, without: out, text: out, changes: [], executable: false }]
}

/** What a plan comes to, in words. */
export function summaryOf({ files, findings }: Pick<SetupPlan, 'files' | 'findings'>): string {
  const changed = files.filter(({ before, text }) => before !== text).length
  if (changed > 0) return `${formatCount(changed, 'file')} to write`
  return findings.some(({ state }) => state === 'refused') ? 'nothing to write' : 'already set up'
}
