import type { LaunchCommand, LaunchMethod } from './commands.ts'
import type { Edit } from './edit/edit-file.ts'
import type { JsonFormat } from './edit/json.ts'
import type { Json } from './edit/json-text.ts'
import type { TomlTable } from './edit/toml.ts'
import { pathsOf, type SetupContext, type SetupScope } from './setup-context.ts'

/** A program that agents work in: everything that setup knows of it is data of this shape, one file each. */
export interface Client {
  readonly id: string
  readonly title: string
  readonly aliases?: readonly string[]
  /** The last look at it: with the program itself, in its source, or in its documentation only. */
  readonly checked: {
    readonly version: string | null
    readonly on: string
    readonly by: 'program' | 'source' | 'documentation'
  }
  /** Where the entry of a server goes; null where there is no such scope. */
  readonly server: (ground: SetupContext, scope: SetupScope) => ServerEntryLocation | null
  /** The same file by another name, used where it is there and the first one is not. */
  readonly otherName?: (ground: SetupContext, scope: SetupScope) => ServerEntryLocation
  readonly entry: (wanted: ConfigEntryOptions) => ConfigEntry
  /** What setup wrote there once, and may replace. */
  readonly formerly?: (wanted: ConfigEntryOptions) => readonly ConfigEntry[]
  /** The server cannot learn the project from this client: the entry names it, one for each project. */
  readonly namesProject?: true
  /** Another file of its own that gets the same entry, where there is such a file already. */
  readonly alsoWrites?: (ground: SetupContext) => ServerEntryLocation
  /** Files of other clients in which it finds servers. */
  readonly seesServers?: (ground: SetupContext) => readonly ServerEntryLocation[]
  /** The file that switches on its plugin of Waymark, which brings the server, the hooks and the skill; null: none does. */
  readonly plugin?: (ground: SetupContext, read: TextReader) => string | null
  readonly allow: PermissionSetup
  readonly hooks: HookSetup | NoHookSupport
  /** The folders in which it finds skills; the first is the one that setup writes to. None: it knows no skills. */
  readonly skills: readonly SkillFolder[]
  /** The text that it reads at the start of a session, for `--rules`. */
  readonly rules: (ground: SetupContext, scope: SetupScope) => string | null
  /** The program that a person starts in a terminal to work with it; none: it is an application. */
  readonly terminal?: string
  /** How it is noticed on a machine. */
  readonly signs: (ground: SetupContext) => DetectionRules
  /** What is left for the person to do. */
  readonly afterwards?: (at: SetupOutcome) => readonly string[]
  /** What its files say about whether it starts the server in this folder. */
  readonly trust?: (ground: SetupContext, read: TextReader) => TrustStatus
}

/** What a setup of a client came to. */
export interface SetupOutcome {
  readonly scope: SetupScope
  /** The entry of the server is in its own file; else it finds it elsewhere. */
  readonly server: boolean
  readonly allow: boolean
  readonly hooks: boolean
}

export type SkillFolder = '.claude/skills' | '.agents/skills'

export interface ServerEntryLocation {
  readonly file: string
  readonly holder: JsonHolder | TomlHolder
}

interface JsonHolder {
  readonly kind: 'json'
  readonly format: JsonFormat
  /** The properties from the top to the entry itself. */
  readonly keys: readonly string[]
}

interface TomlHolder {
  readonly kind: 'toml'
  readonly name: TomlTable['name']
}

export interface ConfigEntryOptions extends LaunchCommand {
  readonly ground: SetupContext
  readonly allow: boolean
  readonly tools: readonly string[]
}

export type ConfigEntry =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'toml'; readonly table: TomlTable }

/** How agents may call Waymark's tools without being asked: in the entry, in files, by hand, or they are not asked. */
export type PermissionSetup =
  | { readonly kind: 'entry' }
  | {
      readonly kind: 'files'
      /** None: no file of that scope can say it. */
      readonly edits: (at: PermissionContext) => readonly Edit[]
      readonly says?: (at: PermissionContext) => readonly string[]
    }
  | { readonly kind: 'person'; readonly says: string }
  | { readonly kind: 'always' }

export interface PermissionContext {
  readonly ground: SetupContext
  readonly scope: SetupScope
  readonly tools: readonly string[]
  /** The plugin brings the server, and names it after itself. */
  readonly byPlugin: boolean
}

export interface NoHookSupport {
  readonly kind: 'none'
  readonly says: string
}

export interface HookSetup {
  readonly kind: 'hooks'
  readonly events: readonly HookRegistration[]
  /** The name of the client whose file it shares; default: its own. */
  readonly as?: string
  /** The file or folder that they are registered in. */
  readonly file: (ground: SetupContext, scope: SetupScope) => string
  /** A person's own file in a project; default: that of the user. */
  readonly own?: (ground: SetupContext) => string
  readonly edits: (registered: HookFileInput) => readonly Edit[]
  /** Files of other clients whose hooks it runs too; `*` is any name. */
  readonly sees?: (ground: SetupContext) => readonly string[]
}

export interface HookRegistration {
  /** The client's word. */
  readonly name: string
  /** The word of `waymark hook`, where the gate listens. */
  readonly gate?: 'pre-tool-use' | 'session-start' | 'stop'
  /** The tools whose calls are recorded; the gate looks at all of them. */
  readonly matcher?: string
  /** The client does not wait for it. */
  readonly isAsync?: true
  readonly seconds?: number
}

export interface HookFileInput {
  readonly ground: SetupContext
  readonly file: string
  readonly way: Exclude<LaunchMethod, 'npx'>
  /** A colleague without waymark reads it too. */
  readonly guarded: boolean
  readonly events: readonly HookFileEntry[]
}

export interface HookFileEntry {
  readonly name: string
  readonly words: readonly string[]
  readonly matcher: string | null
  readonly isAsync: boolean
  readonly seconds: number
  readonly judges: boolean
}

export interface DetectionRules {
  /** Files and folders that only it makes. */
  readonly project: readonly string[]
  readonly user: readonly string[]
  readonly programs: readonly string[]
}

export type TrustStatus = { readonly ok: boolean; readonly says: string } | null

/** The text of a file; null where there is none. */
export type TextReader = (file: string) => string | null

export const strictJson: JsonFormat = { comments: false, trailingCommas: false }
export const jsonWithComments: JsonFormat = { comments: true, trailingCommas: false }
export const jsonc: JsonFormat = { comments: true, trailingCommas: true }

/** The text of a project that most clients read. */
export function agentsFile(ground: SetupContext, scope: SetupScope): string | null {
  return scope === 'project' ? pathsOf(ground).project('AGENTS.md') : null
}

export function jsonEntry(value: Json): ConfigEntry {
  return { kind: 'json', value }
}

export function jsonPlace(file: string, format: JsonFormat, ...keys: readonly string[]): ServerEntryLocation {
  return { file, holder: { kind: 'json', format, keys } }
}
