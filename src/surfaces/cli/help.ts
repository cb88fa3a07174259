import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OperationName } from '../../kernel/operations/catalog.ts'
import { inputSchema } from '../../kernel/operations/input/json-schema.ts'
import type { Operation } from '../../kernel/operations/operation.ts'
import { type Flag, flagsOf, generalFlags, toKebabCase } from './flags.ts'
import { type OtherCommand, otherCommands } from './other-commands.ts'
import { twoColumns, wrap } from './render/table.ts'
import type { Terminal } from './terminal.ts'
import { takesTitle } from './titles.ts'
import { filledFields } from './typed-input.ts'

/** Every command once, in the order of the help: commands for people first. */
const groups: Readonly<Record<string, string>> = {
  'Get started': 'init, setup, open, demo, doctor, help, completion',
  'Every day': 'status, inbox, approve, reject, resolve, review, watch, top',
  'Inspect work': 'show, log, changes, diff, landed, search, board, stats, report, check',
  'Inspect lines': 'blame, why, provenance stats, trailer',
  Sessions: 'capture, sessions, sessions show, sessions diff, sessions forget',
  Missions: 'mission list, mission timeline, mission changes, mission start, mission complete',
  Plan: 'plan show, plan graph, plan tasks, plan move, plan export, import',
  Tasks: 'task list, task get, task add, task edit, task drop, task dep add, task dep remove',
  Phases: 'phase list, phase add, phase edit',
  Milestones: 'milestone list, milestone add, milestone edit',
  Undo: 'undo',
  'Work trees': 'worktree list, worktree add, worktree start, worktree remove',
  Processes: 'process list, process show, process lint, process simulate, role add',
  Runs: 'run list, run show, run summary, run history, run create, run migrate, run cancel, decide',
  'Commands of gates': 'verify, command list, command revoke, ci report',
  Settings: 'setting list, setting set',
  Notifications: 'notify list, notify add, notify edit, notify remove, notify test',
  Servers: 'serve, connect, disconnect, machine list, whoami',
  'Projects of a server': 'project list, project add, project rename',
  People: 'person list, person add, person disable, person enable, person admin',
  'Members of a project':
    'member list, member add, member invite, member set, member remove, invitation create',
  'Sign-in': 'token list, token create, token revoke, session list, session end',
  'Lost files': 'restore, restore --list',
  'Backup and repair': 'backup create, backup restore, prune, doctor --repair, doctor --trust',
  'Move a project': 'export, export --end, export --reopen, import --replace',
  'For agents: missions and tasks':
    'context, task next, task start, task complete, decision log, issue log, progress log, task note add, ' +
    'task note list, task note list-by-ids, phase start, phase complete, workflow start, workflow complete',
  'For agents: reviews and runs': 'review show, review comments, review reply, run events, run emit',
  'For clients': 'mcp, hook, ingest',
}

type HelpEntry = { readonly command: string; readonly title: string }

/** The pages that come with the program: beside its bundle, or beside its sources. */
function pages(): string {
  const beside = join(import.meta.dirname, '..', 'docs')
  return existsSync(beside) ? beside : join(import.meta.dirname, '..', '..', '..', 'docs')
}

/** The groups that `waymark help` lists with titles; of the others it names the first words. */
const firstGroups: readonly string[] = ['Get started', 'Every day', 'Inspect work']

/** `waymark --help` and `waymark help`; with `--all` every command with its title. */
export function usage(operations: readonly Operation[], terminal: Terminal, isAll: boolean): string {
  const { ink } = terminal
  const entries: readonly HelpEntry[] = [...otherCommands.filter(({ joins }) => !joins), ...operations]
  const listed = Object.entries(groups).map(([heading, commands]) => ({
    heading,
    rows: commands.split(', ').flatMap((command) => entries.find((entry) => entry.command === command) ?? []),
  }))
  const others = Object.entries(groups).filter(([heading]) => !firstGroups.includes(heading))
  const otherRows = others.map(([heading, commands]) => {
    const words = commands.split(', ').map((command) => command.split(' ')[0])
    return [heading, [...new Set(words)].join(', ')] as const
  })
  return [
    'Your coding agents say done. Waymark checks it against git.',
    '',
    `${ink('bold', 'Usage:')} waymark <command> [values] [--flags]`,
    '',
    ...listed.flatMap(({ heading, rows }) => {
      if (!isAll && !firstGroups.includes(heading)) return []
      return [
        ink('bold', heading),
        twoColumns(
          rows.map(({ command, title }) => [command, title]),
          terminal,
        ),
        '',
      ]
    }),
    ...(isAll ? [] : [ink('bold', 'More commands'), twoColumns(otherRows, terminal), '']),
    ink('bold', 'Common flags'),
    twoColumns(
      [...generalFlags.map((flag) => flagRow(flag, false)), ['-v, --version', 'Show the version']],
      terminal,
    ),
    '',
    'Help for a command: waymark help <command>. task:start is the same as task start.',
    ...(isAll ? [] : ['All commands: waymark help --all']),
    `All words: ${join(pages(), 'glossary.md')}`,
    '',
  ].join('\n')
}

/** The help of a group such as `waymark task`. */
export function groupUsage(word: string, group: readonly Operation[], terminal: Terminal): string {
  const width = helpWidth(terminal)
  const others = otherCommands.filter(({ command }) => command.startsWith(`${word} `))
  const rows = [...group, ...others]
    .map(({ command, title }) => [command, title] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `Commands of ${word}:\n${twoColumns(rows, { width })}\n`
}

/** `waymark <command> --help`: derived from the contract, with the flags that the program adds. */
export function commandHelp(
  operation: Operation,
  terminal: Terminal,
  { operations, added }: { readonly operations: readonly Operation[]; readonly added?: OtherCommand },
): string {
  const { ink } = terminal
  const width = helpWidth(terminal)
  const flags = commandFlags(operation)
  // Some flags are operations of their own: `doctor --repair`.
  const others = operations
    .filter(({ command }) => command.startsWith(`${operation.command} --`))
    .map(({ command, title }) => [command.slice(operation.command.length + 1), title] as const)
  const rows = [
    ...flags.flatMap((flag) => {
      // Each of these has a flag of its own.
      if (flag.name === 'done-when.criteria' || flag.name === 'done-when.check') return []
      const [name, text] = flagRow(flag, takesTitle(operation.name, flag.path.join('.')))
      return [[name, typedNames(text, { operations, flags })] as const]
    }),
    ...others,
    ...(added?.explained ?? []),
  ]
  return [
    ...wrap(descriptionOf(operation), width),
    ...(added ? wrap(`${added.title}.`, width) : []),
    ...(operation.audience === 'person' ? ['For people only; agents cannot call it.'] : []),
    '',
    `${ink('bold', 'Usage:')} ${usageLine(operation)}`,
    '',
    ...(rows.length === 0 ? [] : [ink('bold', 'Flags'), twoColumns(rows, { width }), '']),
    ink('bold', 'Example'),
    `  ${exampleOf(operation, flags)}`,
    '',
    ink('dim', 'Common flags, such as --json and --project: waymark help'),
    '',
  ].join('\n')
}

/** A text of the contract with its tools as commands and its fields as flags: `start_task` is `waymark task start`. */
function typedNames(
  text: string,
  { operations, flags }: { readonly operations: readonly Operation[]; readonly flags: readonly Flag[] },
): string {
  return text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => {
    const command = operations.find(({ name }) => name === word)?.command
    if (command !== undefined) return `waymark ${command}`
    const flag = toKebabCase(word)
    return flags.some(({ name }) => name === flag) ? `--${flag}` : word
  })
}

/** What a command does: its tool may have the words of another program, or no room for a format. */
function descriptionOf({ name, description }: Operation): string {
  if (name === 'start_mission')
    return `Start a mission: an objective whose tasks are planned, measured and gated together. As a tool: ${description}.`
  if (name === 'complete_mission')
    return `Complete a mission: its summary is kept beside what was measured. As a tool: ${description}.`
  if (name === 'plan_import')
    return `${description} In Markdown, "## Name" is a phase and "- [ ] Title (after: other title)" a task; the title of the file is left out.`
  return description
}

/** Flags that the contract explains by another tool's fields. */
const commandTexts: Readonly<Record<string, string>> = {
  'done-when': 'What the task promises, as JSON or by the flags that follow',
  cursor: 'The cursor that the page before printed',
  profile: 'Expected number of phases: simple 2, standard 3 (default), complex 4 or more. Creates none',
  outcome: 'Your claim, as JSON or by the words and flags that follow',
  metadata: 'What was installed, run and spent, as JSON or by the flags that follow',
  'metadata.packages-added': 'Packages that you added to a manifest',
  'metadata.packages-removed': 'Packages that you removed from a manifest',
  'metadata.commands-executed': 'Commands that you ran',
  'metadata.tests-status': 'How the tests ended',
  'metadata.tokens-input': 'Tokens read by the model',
  'metadata.tokens-output': 'Tokens written by the model',
  'event-name': 'An event of the run: waymark run show lists them',
  payload: 'The fields that the event needs, as JSON: waymark run show has an example',
}

/** The flags of a command; those that it fills in are optional, with their default. */
function commandFlags(operation: Operation): readonly Flag[] {
  const filled = filledFields[operation.name as OperationName] ?? {}
  return flagsOf(inputSchema(operation)).map((flag) => {
    const value = filled[flag.path.join('.')]
    const description = commandTexts[flag.name] ?? flag.description
    return value === undefined
      ? { ...flag, description }
      : { ...flag, required: false, description: `${description}; ${value}` }
  })
}

/** Help is wrapped in a pipe too. */
function helpWidth({ width }: Terminal): number {
  return Math.min(width, 120)
}

/** `waymark blame <file> [--flags]` */
export function usageLine(operation: Operation): string {
  const flags = commandFlags(operation)
  const required = flags.filter((flag) => flag.required && flag.path.length === 1)
  const { positional = [] } = operation
  const named = flags.filter((flag) => isNeeded(flag, flags) && !positional.includes(flag.path.join('.')))
  return [
    'waymark',
    operation.command,
    ...positional.map((name) => positionalText(name, required)),
    ...named.map(flagText),
    '[--flags]',
  ].join(' ')
}

/** A flag with its value and description. */
function flagRow(flag: Flag, hasTitle: boolean): readonly [string, string] {
  const choices = flag.choices.length > 0 && !hasAllChoices(flag) ? ` (${flag.choices.join(', ')})` : ''
  const more = [
    flag.required && flag.name !== 'outcome' ? 'Required.' : '',
    flag.separated ? 'Comma-separated, or repeated.' : flag.many ? 'May be repeated.' : '',
  ].filter((part) => part !== '')
  const meaning = hasTitle ? flag.description.replace(/\bID\b/, 'ID or title') : flag.description
  const description = `${meaning}${choices}`.trim()
  const end = more.length === 0 || description === '' || /[.!?]$/.test(description) ? '' : '.'
  return [flagText(flag), [`${description}${end}`, ...more].join(' ').trim()]
}

function flagText({ name, takes, choices }: Flag): string {
  const text = choices.length > 0 ? ' <choice>' : ' <text>'
  return `--${name}${{ nothing: '', text, number: ' <number>', json: ' <json>' }[takes]}`
}

function hasAllChoices({ description, choices }: Flag): boolean {
  return choices.every((choice) => description.includes(choice))
}

function positionalText(name: string, required: readonly Flag[]): string {
  const [field, ...inner] = name.split('.')
  const needed = required.some(({ path }) => path[0] === field)
  const word = toKebabCase(inner.at(-1) ?? name)
  return needed ? `<${word}>` : `[${word}]`
}

/** Examples that show more than the required fields. */
const examples: Partial<Record<OperationName, string>> = {
  blame: 'src/auth.ts',
  why: 'src/auth.ts:12',
  search: 'login',
  measure_landed: 't-4k2m9x7c0vqa',
  reject: 'h-4k2m9x7c0vqa "The login does not use it yet."',
  setting_set: `done_when '{"check": ["npm test"]}'`,
  start_mission: '"Safer login" --objective "No more than five tries a minute"',
  start_task: '"Add rate limit to login" --areas "src/auth/, test/"',
  complete_task: 't-4k2m9x7c0vqa "Added src/auth/limit.ts. All tests pass." --status success',
  taskman_task_add: '"Add rate limit to login" --check "npm test"',
  taskman_task_edit: 't-4k2m9x7c0vqa --check "npm test"',
  plan_tasks: `--tasks '[{"key": "limit", "title": "Add rate limit to login", "phase": "Build"}]'`,
  start_phase: 'm-4k2m9x7c0vqa 1 Build',
  taskman_phase_add: 'Build --id build',
  taskman_phase_edit: 'build --status done',
  taskman_milestone_add: '--id beta --phase build',
  taskman_milestone_edit: 'beta --reached 1',
  taskman_task_get: 't-4k2m9x7c0vqa',
  taskman_task_note_add: 't-4k2m9x7c0vqa "The limit is in src/auth/limit.ts."',
  taskman_task_note_list: 't-4k2m9x7c0vqa',
  task_drop: 't-4k2m9x7c0vqa "No longer needed"',
  plan_move: 't-4k2m9x7c0vqa --before t-7q2m9x7c0vqb',
  import_replace: 'waymark-log.jsonl',
  backup_create: 'waymark-backup.db',
  backup_restore: 'waymark-backup.db',
  log_issue: 't-4k2m9x7c0vqa --type documentation_gap --description "The README does not name the limit."',
  start_workflow: '"Safer login"',
  token_create: 'laptop',
  project_add: 'shop',
  project_rename: 'shop "Web shop"',
  person_add: '"Ada Lovelace"',
  member_set: 'ada maintainer',
  verify: 't-4k2m9x7c0vqa',
}

/** A command line with every required field, with the contract's examples as values. */
export function exampleOf(operation: Operation, flags: readonly Flag[]): string {
  const chosen = examples[operation.name as OperationName]
  if (chosen !== undefined) return `waymark ${operation.command} ${chosen}`
  const places = operation.positional ?? []
  const byPlace = places.flatMap((name) => flags.filter(({ path }) => path.join('.') === name))
  const positionals = byPlace.filter((flag, at) => flag.required || at === 0 || hasExample(flag))
  const named = flags.filter((flag) => isNeeded(flag, flags) && !positionals.includes(flag))
  return [
    'waymark',
    operation.command,
    ...positionals
      .map(exampleValue)
      .map((value, at, all) => (all.indexOf(value) < at ? otherId(value) : value)),
    ...named.map((flag) =>
      flag.takes === 'nothing' ? `--${flag.name}` : `--${flag.name} ${exampleValue(flag)}`,
    ),
  ].join(' ')
}

/** Two ids of an example differ: a task does not wait for itself. */
function otherId(value: string): string {
  return value.replace('-4k2m9x7c0vqa', '-7q2m9x7c0vqb')
}

function hasExample({ description }: Flag): boolean {
  return description.includes('e.g., ')
}

/** Whether a field is required and no object with flags for its own fields. */
function isNeeded(flag: Flag, flags: readonly Flag[]): boolean {
  if (!flag.required) return false
  const parents = flag.path.slice(0, -1)
  const parent = flags.find(({ path }) => path.length > 0 && path.join('.') === parents.join('.'))
  const spelledOut = flags.some(
    ({ path, required }) => required && path.length > flag.path.length && path[0] === flag.path[0],
  )
  return !spelledOut && (parents.length === 0 || parent?.required === true)
}

function exampleValue(flag: Flag): string {
  if (flag.choices[0] !== undefined) return flag.choices[0]
  if (flag.takes === 'number') return '1'
  if (flag.takes === 'json') return `'{…}'`
  const name = flag.path.at(-1) ?? ''
  const prefix = /\(([a-z]+)-…/.exec(flag.description)?.[1] ?? idLetter[name.replace(/-/g, '_')]
  if (prefix !== undefined) return `${prefix}-4k2m9x7c0vqa`
  const quoted = /e\.g\., \[?'([^']*)'/.exec(flag.description)?.[1] ?? exampleTexts[name]
  return quoted !== undefined && /^[\w@.-]+$/.test(quoted) ? quoted : `"${quoted ?? '…'}"`
}

/** What a field of this name usually says. */
const exampleTexts: Readonly<Record<string, string>> = {
  summary: 'The login takes five tries a minute.',
  question: 'Where are the tries counted?',
  chosen: 'In memory',
  reasoning: 'One process serves every login.',
  message: 'The limit works, and its tests are next.',
  text: 'Done in src/auth/limit.ts.',
  reason: 'It waits for nothing any more.',
  file: 'plan.md',
  rev: 'HEAD',
  commit: 'HEAD',
  check: 'unit-tests',
  phase_id: 'build',
  process: 'feature',
  process_id: 'feature',
  event: 'approve',
  event_name: 'submit',
  'idempotency-key': 'submit-1',
  idempotency_key: 'submit-1',
  ids: 'n-4k2m9x7c0vqa',
  role: 'designer',
  hash: '3f9a6c1e2b7d',
  person: 'ada',
  email: 'ada@example.org',
  token: 'laptop',
  id: 's-4k2m9x7c0vqa',
}

const idLetter: Readonly<Record<string, string>> = {
  mission_id: 'm',
  run_id: 'run',
  task_id: 't',
  dep_id: 't',
  attempt_id: 'a',
}
