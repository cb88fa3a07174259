import type { LaunchCommand, LaunchMethod } from './commands.ts'
import type { Edit } from './edit/edit-file.ts'
import type { JsonFormat } from './edit/json.ts'
import type { Json } from './edit/json-text.ts'
import type { TomlTable } from './edit/toml.ts'
import { type SetupContext, type SetupScope, setupPathsOf } from './setup-context.ts'

/** A program that agents work in, as setup knows it. Each client has one file. */
export interface Client {
  readonly id: string
  readonly title: string
  readonly aliases?: readonly string[]
  /** The last check: with the program itself, its source, or only its documentation. */
  readonly checked: {
    readonly version: string | null
    readonly on: string
    readonly method: 'program' | 'source' | 'documentation'
  }
  /** The location of the server's entry; null where there is no such scope. */
  readonly server: (context: SetupContext, scope: SetupScope) => ServerEntryLocation | null
  /** Another name of the same file, used if only that one exists. */
  readonly otherName?: (context: SetupContext, scope: SetupScope) => ServerEntryLocation
  readonly entry: (wanted: ConfigEntryOptions) => ConfigEntry
  /** Entries of earlier versions, which setup may replace. */
  readonly formerly?: (wanted: ConfigEntryOptions) => readonly ConfigEntry[]
  /** This client does not pass the project to the server: the entry names it, one for each project. */
  readonly namesProject?: true
  /** Another file of its own that gets the same entry if it exists. */
  readonly alsoWrites?: (context: SetupContext) => ServerEntryLocation
  /** Files of other clients in which it finds servers. */
  readonly seesServers?: (context: SetupContext) => readonly ServerEntryLocation[]
  /** The file that enables its plugin of Waymark, which brings the server, the hooks and the skill; null: none does. */
  readonly plugin?: (context: SetupContext, read: TextReader) => string | null
  readonly allow: PermissionSetup
  readonly hooks: HookSetup | NoHookSupport
  /** The folders with skills; setup writes to the first. None: no support for skills. */
  readonly skills: readonly SkillFolder[]
  /** The text that it reads at the start of a session, for `--rules`. */
  readonly rules: (context: SetupContext, scope: SetupScope) => string | null
  /** The program that a person starts in a terminal to work with it; none: it is an application. */
  readonly terminal?: string
  /** How setup detects it on a machine. */
  readonly signs: (context: SetupContext) => DetectionRules
  /** The steps that are left to the person. */
  readonly afterwards?: (at: SetupOutcome) => readonly string[]
  /** Whether it starts the server in this folder, as far as its files show. */
  readonly trust?: (context: SetupContext, read: TextReader) => TrustStatus
}

/** The result of a client's setup. */
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
  readonly context: SetupContext
  readonly allow: boolean
  readonly tools: readonly string[]
}

export type ConfigEntry =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'toml'; readonly table: TomlTable }

/** How to allow Waymark's tools without a prompt: in the entry, in files, by hand, or always. */
export type PermissionSetup =
  | { readonly kind: 'entry' }
  | {
      readonly kind: 'files'
      /** None: no file of that scope can allow them. */
      readonly edits: (at: PermissionContext) => readonly Edit[]
      readonly says?: (at: PermissionContext) => readonly string[]
    }
  | { readonly kind: 'person'; readonly says: string }
  | { readonly kind: 'always' }

export interface PermissionContext {
  readonly context: SetupContext
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
  /** The client that owns the file; default: itself. */
  readonly clientName?: string
  /** The file or folder that they are registered in. */
  readonly file: (context: SetupContext, scope: SetupScope) => string
  /** A person's own file in a project; default: the user's file. */
  readonly own?: (context: SetupContext) => string
  readonly edits: (input: HookFileInput) => readonly Edit[]
  /** Files with hooks that it runs too; `*` is any name. */
  readonly sees?: (context: SetupContext) => readonly string[]
}

export interface HookRegistration {
  /** The client's name for it. */
  readonly name: string
  /** The argument of `waymark hook`, where the gate listens. */
  readonly gate?: 'pre-tool-use' | 'session-start' | 'stop'
  /** Records only calls of these tools; the gate checks every tool. */
  readonly matcher?: string
  /** The client does not wait for it. */
  readonly isAsync?: true
  readonly seconds?: number
}

export interface HookFileInput {
  readonly context: SetupContext
  readonly file: string
  readonly method: Exclude<LaunchMethod, 'npx'>
  /** The file is shared with people who may not have waymark. */
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
export function agentsFile(context: SetupContext, scope: SetupScope): string | null {
  return scope === 'project' ? setupPathsOf(context).project('AGENTS.md') : null
}

export function jsonEntry(value: Json): ConfigEntry {
  return { kind: 'json', value }
}

export function jsonPlace(file: string, format: JsonFormat, ...keys: readonly string[]): ServerEntryLocation {
  return { file, holder: { kind: 'json', format, keys } }
}
