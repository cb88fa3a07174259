import { isJsonObject } from '../../kernel/json.ts'
import type { OperationName } from '../../kernel/operations/catalog.ts'
import type { Answer, Operation } from '../../kernel/operations/operation.ts'
import type { AnswerSupplement } from './render/view.ts'
import type { AskProject } from './typed-input.ts'

/** What a text for a person needs beside the answer: titles of dependencies and phases, the mission that a task may belong to, the number of ended missions, and the first prompt. */
export async function readAnswerSupplement(
  { name }: Operation,
  answer: Answer,
  { ask, firstPrompt }: { readonly ask: AskProject; readonly firstPrompt: () => Promise<string | undefined> },
): Promise<AnswerSupplement> {
  if (name === 'status') return Number(answer['events']) <= 1 ? { firstPrompt: await firstPrompt() } : {}
  if (name === 'complete_task' && typeof answer['mission_id'] === 'string') {
    const { missions } = await ask('status', { limit: 1 })
    return { mission: missions.find(({ mission_id: id }) => id === answer['mission_id']) }
  }
  if (name === 'taskman_task_add' && answer['mission_id'] === null) return openMissionOf(ask)
  if (name === 'list_missions')
    return { endedMissions: (await ask('list_missions', { status: 'ended', limit: 1 })).total }
  if (name === 'taskman_task_list' || name === 'taskman_phase_list')
    return { titles: { ...(await phaseNames(ask)), ...(await missionNames(ask)) } }
  if (name === 'show' && answer['kind'] === 'task' && typeof answer['mission_id'] === 'string')
    return { titles: await missionNames(ask) }
  if (!namesTasks.has(name)) return {}
  const { depends_on: ids, mission_id: mission } = isJsonObject(answer['task']) ? answer['task'] : answer
  const wanted = new Set([ids, mission].flat().filter((id) => typeof id === 'string'))
  const phases = await phaseNames(ask)
  if (wanted.size === 0) return { titles: phases }
  const { tasks, missions } = await ask('search', {})
  const named = [...tasks, ...missions].filter(({ id }) => wanted.has(id))
  return { titles: { ...phases, ...Object.fromEntries(named.map(({ id, name: title }) => [id, title])) } }
}

async function phaseNames(ask: AskProject): Promise<Readonly<Record<string, string>>> {
  const { phases } = await ask('taskman_phase_list', {})
  return Object.fromEntries(phases.map(({ id, name }) => [id, name]))
}

async function missionNames(ask: AskProject): Promise<Readonly<Record<string, string>>> {
  const { missions } = await ask('search', {})
  return Object.fromEntries(missions.map(({ id, name }) => [id, name]))
}

/** The commands that show one task of the plan. */
const namesTasks: ReadonlySet<string> = new Set<OperationName>([
  'taskman_task_dep_add',
  'taskman_task_dep_remove',
  'taskman_task_edit',
  'taskman_task_get',
  'taskman_task_next',
])

/** The newest open mission, with its last phase. */
async function openMissionOf(ask: AskProject): Promise<AnswerSupplement> {
  const { missions } = await ask('list_missions', { limit: 1 })
  const [mission] = missions
  if (mission === undefined) return {}
  const { mission_id: id, name } = mission
  const { phases } = await ask('taskman_phase_list', { mission: id })
  const phase = phases.findLast(({ status }) => status !== 'done') ?? phases.at(-1)
  return { openMission: { id, name, phaseId: phase?.id ?? null } }
}
