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
import { type SetupContext, type SetupScope, setupPathsOf } from './setup-context.ts'

/** The options of `waymark setup`. */
export interface SetupRequest {
  /** Null: the project where the client has such a file, else the user. */
  readonly scope: SetupScope | null
  readonly allow: boolean
  readonly rules: boolean
  readonly hooks: boolean
  /** The files are committed for the whole team: they hold the hooks, and entries name the program. */
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
  readonly context: SetupContext
  readonly request: SetupRequest
  readonly assets: ProgramAssets
  /** The text on disk. */
  readonly read: TextReader
  /** Why a file cannot be edited, whatever is in it. */
  readonly fault: (file: string) => string | null
  /** The files that match a path with `*` in its name. */
  readonly expand: (pattern: string) => readonly string[]
  readonly changesOf: (file: string) => readonly SetupChange[]
}

/** A file as it will be. `text` null: it is removed. */
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
export function planSetup(clients: readonly Client[], input: SetupPlanInput): SetupPlan {
  return clients.reduce<SetupPlan>(
    (plan, client) => {
      const { files, findings, notes, afterwards } = planClient(
        client,
        overlayPlannedFiles(input, plan.files),
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

function overlayPlannedFiles(input: SetupPlanInput, planned: readonly PlannedFile[]): SetupPlanOverlay {
  const files = new Map(planned.map((one) => [one.file, one]))
  return {
    ...input,
    read: (file) => {
      const found = files.get(file)
      return found ? found.text : input.read(file)
    },
    changesOf: (file) => files.get(file)?.changes ?? input.changesOf(file),
    start: (file) => {
      const before = input.read(file)
      return files.get(file) ?? { before, without: revertChanges(before, input.changesOf(file)).text }
    },
  }
}

function planClient(client: Client, input: SetupPlanOverlay): Omit<SetupPlan, 'skipped'> {
  const { read, changesOf, start, request } = input
  const requested = requestedEdits(client, input)
  const owner = ownerOf(client, input)
  const edited = [...groupEditsByFile(requested.edits)].map(([file, edits]) => {
    const fault = input.fault(file)
    if (fault !== null) return { findings: edits.map((edit) => faultFinding(edit, fault)) }
    const from = withoutStale({ text: read(file), changes: changesOf(file) }, edits, owner)
    const { text, changes, findings } = editFile(from, edits, { owner, force: request.force })
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

/** The owner of a change: undo in one project keeps what another project still needs. */
function ownerOf(client: Client, { context, request }: Pick<SetupPlanInput, 'context' | 'request'>): string {
  const isProjects = client.namesProject === true || scopeOf(client, { context, request }) === 'project'
  return isProjects ? `${client.id} ${context.folder}` : client.id
}

/** Whether a change belongs to this project's setup, or to the user's setup for all projects. */
export function isForProject({ owners }: SetupChange, { folder }: SetupContext): boolean {
  return owners.some((owner) => !owner.includes(' ') || owner.endsWith(` ${folder}`))
}

export function scopeOf(
  client: Client,
  { context, request }: Pick<SetupPlanInput, 'context' | 'request'>,
): SetupScope {
  if (request.scope === 'user' || client.server(context, 'project') === null) return 'user'
  return 'project'
}

function groupEditsByFile(edits: readonly Edit[]): ReadonlyMap<string, readonly Edit[]> {
  const files = new Map<string, readonly Edit[]>()
  for (const edit of edits) files.set(edit.file, [...(files.get(edit.file) ?? []), edit])
  return files
}

/** Removes hooks of an earlier setup that are no longer requested or have another form. */
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
  const removed = stale.filter((change) => !kept.some((one) => one.change === change))
  return { text, changes: from.changes.filter((change) => !removed.includes(change)) }
}

interface EditRequest {
  readonly edits: readonly Edit[]
  readonly notes: readonly string[]
  readonly afterwards: readonly string[]
  /** Files whose entry, another client's, serves this one too. */
  readonly shared: readonly string[]
}

function requestedEdits(client: Client, input: SetupPlanInput): EditRequest {
  const server = serverEdits(client, input)
  const parts = [
    server,
    permissionEdits(client, input),
    requestedHookEdits(client, input),
    skillEdits(client, input),
    ruleEdits(client, input),
  ]
  const { request } = input
  const afterwards = client.afterwards?.({
    scope: scopeOf(client, input),
    server: server.edits !== undefined,
    allow: request.allow,
    hooks: request.hooks && client.hooks.kind === 'hooks',
  })
  return {
    edits: parts.flatMap(({ edits = [] }) => edits),
    notes: parts.flatMap(({ notes = [] }) => notes),
    afterwards: [...(afterwards ?? []), ...parts.flatMap(({ afterwards = [] }) => afterwards)],
    shared: parts.flatMap(({ shared = [] }) => shared),
  }
}

/** The edit that puts the server's entry into a file of the client. */
function serverEdit(
  client: Client,
  { context, request, assets, read }: Pick<SetupPlanInput, 'context' | 'request' | 'assets' | 'read'>,
  place: ServerEntryLocation,
): Edit {
  const scope = scopeOf(client, { context, request })
  const more = request.toolsets === null ? [] : ['--toolsets', request.toolsets]
  const method = launchMethod(scope, read(place.file), { context, request })
  const command = serverCommand(context, method, more)
  const wanted = { ...command, context, tools: assets.tools }
  const isInEntry = client.allow.kind === 'entry'
  const entry = client.entry({ ...wanted, allow: request.allow && isInEntry })
  const freely = client.entry({ ...wanted, allow: isInEntry })
  // Setup may replace every entry that it writes with other options.
  const methods: readonly LaunchMethod[] =
    scope === 'project' ? ['name', 'npx', 'absolute'] : ['absolute', 'npx']
  const all = methods.flatMap((other) => {
    const command = serverCommand(context, other, more)
    const form = { ...command, context, tools: assets.tools }
    return [
      client.entry({ ...form, allow: false }),
      client.entry({ ...form, allow: true }),
      ...(client.formerly?.({ ...form, allow: false }) ?? []),
    ]
  })
  return entryEdit(place, entry, { fits: request.allow ? [] : [freely], olds: all })
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

/** A new file is the user's own and may name this copy by its path; an existing one may be shared. */
function launchMethod(
  scope: SetupScope,
  text: string | null,
  { context: { program }, request }: Pick<SetupPlanInput, 'context' | 'request'>,
): LaunchMethod {
  if (request.npx) return 'npx'
  if (scope === 'user') return 'absolute'
  const isOwn = text === null || text.includes(JSON.stringify(program.bin).slice(1, -1))
  return isOwn && !request.shared && !program.isNamed ? 'absolute' : 'name'
}

function serverEdits(client: Client, input: SetupPlanInput): Partial<EditRequest> {
  const { context, read } = input
  const plugin = client.plugin?.(context, read) ?? null
  if (plugin !== null) {
    const says = `${client.title} has the server from its plugin, which ${plugin} switches on.`
    const isRequested = input.request.allow && client.allow.kind === 'entry'
    const allowHint = `${client.title} cannot allow tools in a file. Allow them at the first call.`
    return { notes: isRequested ? [says, allowHint] : [says] }
  }
  const scope = scopeOf(client, input)
  const named = client.server(context, scope)
  if (named === null) return {}
  const sameFile = client.otherName?.(context, scope)
  const isThere = sameFile !== undefined && read(sameFile.file) !== null && read(named.file) === null
  const place = isThere ? sameFile : named
  const other = scope === 'project' ? 'user' : 'project'
  const elsewhere = [client.server(context, other), ...(client.seesServers?.(context) ?? [])].find(
    (seen) => seen !== null && seen.file !== place.file && hasServerAt(seen, read),
  )
  if (elsewhere && !hasServerAt(place, read)) {
    const says = `${client.title} already finds the server in ${elsewhere.file}. ${place.file} gets no second entry.`
    return { notes: [says], shared: [elsewhere.file] }
  }
  const also = client.alsoWrites?.(context)
  const places = also && read(also.file) !== null ? [place, also] : [place]
  return {
    edits: places.map((one) => serverEdit(client, input, one)),
    notes: launchMethod(scope, read(place.file), input) === 'name' ? pathHints(context) : [],
  }
}

/** The hint where a project's file names a program that the client will not find. */
function pathHints({ program }: SetupContext): readonly string[] {
  if (program.isNamed) return []
  return [
    `This copy of waymark is not on the PATH, where clients look for it: npm install --global puts it there. Or add --user, whose files name this copy by its path.`,
  ]
}

/** Whether a location has an entry of Waymark, even one that setup did not write. */
export function hasServerAt({ file, holder }: ServerEntryLocation, read: TextReader): boolean {
  const text = read(file)
  if (text === null) return false
  return holder.kind === 'json'
    ? jsonValue(text, holder.keys) !== undefined
    : tomlTable(text, holder.name) !== undefined
}

function permissionEdits(client: Client, input: SetupPlanInput): Partial<EditRequest> {
  const { context, request, assets } = input
  const { allow } = client
  if (!request.allow) return {}
  if (allow.kind === 'person') return { notes: [allow.says] }
  if (allow.kind !== 'files') return {}
  const scope = scopeOf(client, input)
  const byPlugin = client.plugin !== undefined && client.plugin(context, input.read) !== null
  const at = { context, scope, tools: assets.tools, byPlugin }
  return { edits: allow.edits(at), notes: allow.says?.(at) ?? [] }
}

function requestedHookEdits(client: Client, input: SetupPlanInput): Partial<EditRequest> {
  const { context, request, read, changesOf } = input
  const { hooks } = client
  if (hooks.kind === 'none') return request.hooks ? { notes: [hooks.says] } : {}
  const scope = scopeOf(client, input)
  const file = hookFile(hooks, context, { scope, shared: request.shared })
  const plugin = client.plugin?.(context, read) ?? null
  if (!request.hooks) {
    const seen = [file, ...(hooks.sees?.(context) ?? [])].flatMap((one) =>
      one.includes('*') ? input.expand(one) : [one],
    )
    if (plugin !== null || seen.some((one) => hasOurHook(read(one) ?? ''))) return {}
    return { notes: ['Sessions in which the agent does not call Waymark are recorded only with --hooks.'] }
  }
  if (plugin !== null) {
    return { notes: [`${client.title} has the hooks from its plugin, which ${plugin} switches on.`] }
  }
  const elsewhere = (hooks.sees?.(context) ?? [])
    .flatMap((seen) => (seen.includes('*') ? input.expand(seen) : [seen]))
    .find((seen) => seen !== file && hasOurHook(read(seen) ?? ''))
  if (elsewhere !== undefined) {
    return {
      notes: [`${client.title} runs the hooks in ${elsewhere} already, so none were added to ${file}.`],
    }
  }
  const guarded = isCommitted(file, context) && file !== hooks.own?.(context)
  const method = guarded ? 'name' : 'absolute'
  const edits = hookEdits(client, { context, file, method, guarded, capture: request.capture })
  if (isForeignHook(edits, { read, changesOf })) {
    return {
      notes: [`${file} has Waymark hooks that setup did not write. They stay, and none were added.`],
    }
  }
  const says = guarded
    ? [sharedHooks(file), ...pathHints(context)]
    : scope === 'project'
      ? [ownHooks(file)]
      : []
  return { edits, notes: says }
}

/** The file that the hooks of a client go to. */
function hookFile(
  { file, own }: HookSetup,
  context: SetupContext,
  { scope, shared }: { readonly scope: SetupScope; readonly shared: boolean },
): string {
  if (scope === 'user' || shared) return file(context, scope)
  return own?.(context) ?? file(context, 'user')
}

function ownHooks(file: string): string {
  return `The hooks are in your own file ${file}, which is not committed. To share them with the project, use --shared.`
}

function sharedHooks(file: string): string {
  return `${file} is shared with the project. Without waymark, its hooks do nothing in a POSIX shell. On Windows without such a shell they fail.`
}

/** The edits that register a client's hooks: those of the gate and, with `capture`, those that only record. */
export function hookEdits(
  { id, hooks }: Client,
  {
    capture,
    ...hookInput
  }: Pick<HookFileInput, 'context' | 'file' | 'method' | 'guarded'> & { readonly capture: boolean },
): readonly Edit[] {
  if (hooks.kind === 'none') return []
  const { context, method } = hookInput
  const events = hooks.events
    .filter(({ gate }) => capture || gate !== undefined)
    .map((event) => ({
      name: event.name,
      words: hookWords(
        context,
        { client: hooks.clientName ?? id, event: event.name, gate: event.gate ?? null },
        method,
      ),
      // The gate looks at every tool; a recorder alone only at those that may change something.
      matcher: event.gate === 'pre-tool-use' ? '*' : (event.matcher ?? null),
      isAsync: event.isAsync === true,
      seconds: event.seconds ?? (event.gate === undefined ? 5 : 10),
      judges: event.gate !== undefined,
    }))
  return hooks.edits({ ...hookInput, events })
}

/** Committed files name commands that exist on every machine. */
function isCommitted(file: string, { folder, platform }: SetupContext): boolean {
  return file.startsWith(`${folder}${platform === 'win32' ? win32.sep : posix.sep}`)
}

/** Whether a file has hooks of Waymark that setup neither recorded nor would write. */
function isForeignHook(
  edits: readonly Edit[],
  { read, changesOf }: Pick<SetupPlanInput, 'read' | 'changesOf'>,
): boolean {
  return edits.some((edit) => {
    if (edit.kind !== 'json' || !edit.place.item) return false
    const list = jsonValue(read(edit.file) ?? '', edit.place.keys)
    if (!Array.isArray(list)) return false
    const recordedValues = changesOf(edit.file).flatMap((change) =>
      change.kind === 'added' ? [change.value] : [],
    )
    return list.some(
      (entry) =>
        hasOurHook(JSON.stringify(entry)) &&
        !isSameHook(entry, edit.value) &&
        !recordedValues.some((value) => isDeepStrictEqual(value, entry)),
    )
  })
}

function skillEdits(client: Client, input: SetupPlanInput): Partial<EditRequest> {
  const { context, read, assets } = input
  const [own] = client.skills
  if (own === undefined || (client.plugin?.(context, read) ?? null) !== null) return {}
  const { project, home } = setupPathsOf(context)
  const scope = scopeOf(client, input)
  const fileIn = (folder: string, at: SetupScope) =>
    (at === 'project' ? project : home)(...folder.split('/'), 'waymark', 'SKILL.md')
  const file = fileIn(own, scope)
  const isSeen = client.skills.some((folder) =>
    (['project', 'user'] as const).some(
      (at) => fileIn(folder, at) !== file && read(fileIn(folder, at)) !== null,
    ),
  )
  if (isSeen && read(file) === null) return {}
  return { edits: [{ kind: 'file', part: 'skill', file, text: assets.skill, executable: false }] }
}

/** The section on Waymark in a text for agents. */
const ruleLines: readonly string[] = [
  '## Waymark',
  '',
  'This project records its work with Waymark (MCP server `waymark`).',
  '- Before the first edit: `start_task` with the scope (`areas`) that will change; afterwards `complete_task`.',
  '- Stay in scope; declare more with another `start_task` before editing elsewhere.',
  '- Questions for a person: `log_issue` with `requires_human_review`.',
]

function ruleEdits(client: Client, input: SetupPlanInput): Partial<EditRequest> {
  const { context, request, read } = input
  if (!request.rules) return {}
  const scope = scopeOf(client, input)
  const own = client.rules(context, scope)
  if (own === null) {
    const says = `${client.title} reads no rules file ${scope === 'user' ? 'for all projects' : 'in a project'}. None was added.`
    return { notes: [says] }
  }
  // A text that only leads to AGENTS.md is read together with it.
  const shared = setupPathsOf(context).project('AGENTS.md')
  const leads =
    scope === 'project' && own !== shared && /^[ \t]*@(?:\.\/)?AGENTS\.md[ \t]*\r?$/m.test(read(own) ?? '')
  return { edits: [{ kind: 'section', part: 'rules', file: leads ? shared : own, lines: ruleLines }] }
}

export interface SetupUndoInput {
  readonly context: SetupContext
  readonly request: SetupRequest
  readonly assets: ProgramAssets
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
  /** The parts that could not be removed, each as a sentence. */
  readonly kept: readonly string[]
  readonly notes: readonly string[]
  /** Hints for clients that are set up only in the other scope. */
  readonly elsewhere: readonly string[]
}

/** Undoes the setup of clients: restores the bytes before, or removes only our part of a file that others changed. */
export function planSetupUndo(clients: readonly Client[], input: SetupUndoInput): SetupUndo {
  const owners = clients.map((client) => ownerOf(client, input))
  const kept: string[] = []
  const notes: string[] = []
  const inOrder = input.recorded.toSorted((one, other) => (one.file < other.file ? -1 : 1))
  const files = inOrder.flatMap(({ file, changes, asWeLeftIt, before }) => {
    if (!changes.some((change) => change.owners.some((owner) => owners.includes(owner)))) return []
    const left = changes.flatMap((change) => {
      const others = change.owners.filter((owner) => !owners.includes(owner))
      return others.length === 0 ? [] : [{ ...change, owners: others }]
    })
    const removable = changes.filter((change) => change.owners.every((owner) => owners.includes(owner)))
    const text = input.read(file)
    if (left.length > 0 && removable.length === 0)
      notes.push(`${file} stays: ${sharedOwnerNames(left, input)}.`)
    const same = { file, before: text, without: before, changes: left, executable: false }
    if (left.length === 0 && asWeLeftIt) return [{ ...same, text: before }]
    const back = revertChanges(text, removable)
    for (const { change, at } of back.kept) {
      kept.push(`${file}: ${partNames[change.part]} was edited since (${at}) and stays.`)
    }
    if (left.length === 0 && back.kept.length === 0 && back.text !== text) {
      notes.push(`${file} was changed since setup. Only the parts that setup wrote were removed.`)
    }
    const isEmpty = before === null && isBare(back.text ?? '')
    const staying = back.kept.map(({ change }) => change)
    const without = revertChanges(text, changes).text
    return [{ ...same, without, changes: [...left, ...staying], text: isEmpty ? null : back.text }]
  })
  const unrecorded = clients.flatMap((client) => removeUnrecordedServer(client, input))
  const all = [...files, ...unrecorded.filter(({ file }) => !files.some((one) => one.file === file))]
  const hooks = clients
    .flatMap((client) => remainingHooks(client, all, input))
    .filter((hook) => !kept.some((one) => one.startsWith(`${hook.file}:`)))
  return {
    files: all,
    kept: [...new Set([...kept, ...hooks.map(({ says }) => says)])],
    notes,
    elsewhere: clients.flatMap((client) => otherScopeNotes(client, input)),
  }
}

/** Hooks of ours that no setup owns and that the client would keep running. */
function remainingHooks(
  client: Client,
  files: readonly PlannedFile[],
  { context, request, read, recorded }: SetupUndoInput,
): readonly { readonly file: string; readonly says: string }[] {
  const { hooks } = client
  if (hooks.kind === 'none') return []
  const scope = scopeOf(client, { context, request })
  const places = [true, false].map((shared) => hookFile(hooks, context, { scope, shared }))
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
  const says = `${file}: line ${line} has a Waymark hook that setup did not write in this form. It runs until you remove it.`
  return [{ file, says }]
}

function otherScopeNotes(client: Client, { context, request, recorded }: SetupUndoInput): readonly string[] {
  const [own, other] = request.scope === 'user' ? (['user', null] as const) : ([null, 'user'] as const)
  const isOf = (owner: string) =>
    recorded.some(({ changes }) => changes.some(({ owners }) => owners.includes(owner)))
  const owner = (scope: typeof own) => ownerOf(client, { context, request: { ...request, scope } })
  if (isOf(owner(own)) || !isOf(owner(other))) return []
  return [
    own === 'user'
      ? `${client.title} is set up in ${context.folder}: leave --user out.`
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
  { context }: Pick<SetupUndoInput, 'context'>,
): string {
  const names = changes.flatMap(({ owners }) =>
    owners.map((owner) => {
      const [id = '', ...words] = owner.split(' ')
      const folder = words.join(' ')
      const title = clientNamed(id)?.title ?? id
      if (folder === '') return `${title} in all your projects`
      return folder === context.folder ? title : `${title} in ${folder}`
    }),
  )
  const all = [...new Set(names)]
  return `${joinNames(all)} ${all.length === 1 ? 'uses' : 'use'} it too`
}

/** Without a record of setup, removes an entry only if setup would write exactly the same. */
function removeUnrecordedServer(client: Client, input: SetupUndoInput): readonly PlannedFile[] {
  const place = client.server(input.context, scopeOf(client, input))
  if (place === null || input.recorded.some(({ file }) => file === place.file)) return []
  const text = input.read(place.file)
  const edit = serverEdit(client, input, place)
  const out = text === null ? null : removeEdit(text, edit)
  if (text === null || out === null) return []
  return [{ file: place.file, before: text, without: out, text: out, changes: [], executable: false }]
}

/** A plan in words. */
export function setupSummary({ files, findings }: Pick<SetupPlan, 'files' | 'findings'>): string {
  const changed = files.filter(({ before, text }) => before !== text).length
  if (changed > 0) return `${formatCount(changed, 'file')} to write`
  return findings.some(({ state }) => state === 'refused') ? 'nothing to write' : 'already set up'
}
