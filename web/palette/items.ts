import { call } from '../api/call.ts'
import { isPermitted } from '../api/session.ts'
import { bindings } from '../keys/bindings.ts'
import { handlerOf } from '../keys/commands.ts'
import { linesOf } from '../parts/line-links.ts'
import { type Status, statusOf } from '../parts/status.tsx'
import { place } from '../router/current.ts'
import { base, href } from '../router/location.ts'
import { routes } from '../router/routes.ts'
import { type Field, type OperationEntry, readOperations } from './operations.ts'

/** An entry of the palette. */
export interface PaletteItem {
  readonly key: string
  readonly kind: 'View' | 'Key' | 'Mission' | 'Run' | 'Task' | 'Command'
  readonly text: string
  /** Also searched: an id, a name. */
  readonly also: string
  readonly status?: Status
  readonly keys?: string
  readonly does:
    | { readonly is: 'go'; readonly to: string }
    | { readonly is: 'run'; readonly run: () => void }
    | { readonly is: 'ask'; readonly operation: OperationEntry }
}

/** The entries without a request: the views, and the commands of the keys. */
export function currentItems(): readonly PaletteItem[] {
  const views = routes
    .filter(({ path }) => !/:\w+(\/|$)/.test(path))
    .map(({ name, title, path }): PaletteItem => {
      const keys = bindings.find(({ command }) => command === `go ${name}`)?.keys[0]
      const to = href(path.split('/:')[0] || '/')
      return {
        key: `view ${name}`,
        kind: 'View',
        text: title,
        also: name,
        does: { is: 'go', to },
        ...(keys && { keys }),
      }
    })
  const commands = bindings.flatMap((binding): readonly PaletteItem[] => {
    const { command, title, keys, group } = binding
    const run = handlerOf(command)
    if (!run || group === 'Go to' || group === 'Lists' || command === 'palette' || 'operation' in binding)
      return []
    return [
      {
        key: `key ${command}`,
        kind: 'Key',
        text: title,
        also: `${command} ${synonyms[command] ?? ''}`,
        keys: keys[0],
        does: { is: 'run', run },
      },
    ]
  })
  return [...views, ...commands]
}

/** The lines of a file, where the words are one: `src/app.ts` or `src/app.ts:12`. */
export function itemsOfFile(words: string): readonly PaletteItem[] {
  const [, file, line] = /^(\S*\w\.[a-z]\w{0,7})(?::(\d{1,7}))?$/i.exec(words.trim()) ?? []
  if (file === undefined) return []
  const to = linesOf(file, line === undefined ? undefined : { line: Number(line) })
  return [{ key: 'file', kind: 'View', text: `Who wrote ${words.trim()}`, also: '', does: { is: 'go', to } }]
}

/** Other words that people search a command by. */
const synonyms: Readonly<Record<string, string>> = {
  glossary: 'help docs unproven landed measured verdict',
  complete_mission: 'end finish close mission',
  measure_landed: 'merged main',
  verify: 'tests again',
}

/** The entries of the server: missions, runs, tasks, and the commands of its catalog. */
export async function itemsOfServer(): Promise<readonly PaletteItem[]> {
  const [names, operations] = await Promise.all([call('search', {}), readOperations(base.peek())])
  return [
    ...names.missions.map(
      ({ id, name, status }): PaletteItem => ({
        key: id,
        kind: 'Mission',
        text: name,
        also: id,
        status: statusOf(status),
        does: { is: 'go', to: href(`/missions/${id}`) },
      }),
    ),
    ...names.runs.map(
      ({ id, name, status }): PaletteItem => ({
        key: id,
        kind: 'Run',
        text: name,
        also: id,
        status: statusOf(status),
        does: { is: 'go', to: href(`/runs/${id}`) },
      }),
    ),
    // Operations that would be refused are not offered.
    ...operations
      .filter(({ name }) => isPermitted(name))
      .map(
        (operation): PaletteItem => ({
          key: `operation ${operation.name}`,
          kind: 'Command',
          text: operation.title,
          also: `${operation.name} ${synonyms[operation.name] ?? ''}`,
          does: { is: 'ask', operation },
        }),
      ),
    ...names.tasks.map(
      ({ id, name, status }): PaletteItem => ({
        key: id,
        kind: 'Task',
        text: name,
        also: id,
        status: statusOf(status),
        does: { is: 'go', to: href(`/tasks/${id}`) },
      }),
    ),
  ]
}

/** The fields that name what the page is about. An optional one narrows a command, except of one that takes either. */
export function fieldsHere({ fields }: Pick<OperationEntry, 'fields'>): ReadonlyMap<string, string> {
  const { route, params } = place.peek() ?? {}
  const [kind, id] = [route?.name === 'review' ? params?.['kind'] : route?.name, params?.['id']]
  if (id === undefined) return new Map()
  const isHere = ({ of, isRequired, type }: Field) =>
    type !== 'list' && ((of === kind && isRequired) || (of === 'work' && (kind === 'task' || kind === 'run')))
  return new Map(fields.filter(isHere).map(({ name }) => [name, id]))
}
