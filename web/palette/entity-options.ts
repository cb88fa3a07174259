import { call } from '../api/call.ts'
import { shortId } from '../parts/text.tsx'
import type { EntityKind } from './entity-fields.ts'

/** One to choose: its id, and what people call it. */
export interface EntityOption {
  readonly id: string
  readonly name: string
  readonly isOpen: boolean
}

const ended = new Set(['done', 'completed', 'failed', 'succeeded', 'cancelled', 'partial', 'abandoned'])

type Found = Omit<EntityOption, 'isOpen'> & { readonly isOpen?: boolean }

async function searchFor(...kinds: readonly ('tasks' | 'missions' | 'runs')[]): Promise<readonly Found[]> {
  const found = await call('search', {})
  return kinds
    .flatMap((kind) => found[kind])
    .map(({ id, name, status }) => ({ id, name, isOpen: !ended.has(status.toLowerCase()) }))
}

const readers = {
  work: () => searchFor('tasks', 'runs'),
  task: () => searchFor('tasks'),
  mission: () => searchFor('missions'),
  run: () => searchFor('runs'),
  phase: async () =>
    (await call('plan_show', {})).phases.flatMap(({ id, name, mission_name }) =>
      id === null
        ? []
        : [{ id, name: [name ?? id, mission_name].filter((part) => part !== null).join(', ') }],
    ),
  milestone: async () =>
    (await call('plan_show', {})).phases.flatMap(({ milestones, name: phase }) =>
      milestones.map(({ id, name }) => ({
        id,
        name: [name ?? id, phase].filter((part) => part !== null).join(', '),
      })),
    ),
  item: async () =>
    (await call('inbox', { limit: 200 })).items.map(({ item_id, task_name, mission_name, reason }) => ({
      id: item_id,
      name: `${task_name ?? mission_name ?? 'Run'}: ${reason}`.slice(0, 120),
    })),
  process: async () =>
    (await call('process_list', {})).processes.map(({ process_id, name }) => ({
      id: process_id,
      name: name ?? process_id,
    })),
  person: async () => (await call('person_list', {})).people.map(({ id, name }) => ({ id, name })),
  token: async () => (await call('token_list', {})).tokens.map(({ id, name }) => ({ id, name })),
  notification: async () =>
    (await call('notify_list', {})).notifications.map(({ id, name }) => ({ id, name })),
} as const satisfies Record<EntityKind, () => Promise<readonly Found[]>>

/** All of a kind, open ones first. Those with the same name are told apart by their ids. */
export async function readEntities(kind: EntityKind): Promise<readonly EntityOption[]> {
  const found: readonly Found[] = await readers[kind]()
  const names = Map.groupBy(found, ({ name }) => name)
  const options = found.map(({ id, name, isOpen = true }) => ({
    id,
    name: (names.get(name)?.length ?? 0) > 1 ? `${name} (${shortId(id)})` : name,
    isOpen,
  }))
  return [...options.filter(({ isOpen }) => isOpen), ...options.filter(({ isOpen }) => !isOpen)]
}
