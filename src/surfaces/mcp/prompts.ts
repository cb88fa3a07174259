import {
  type CompleteRequest,
  type CompleteResult,
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { Store } from '../../store/ports/store.ts'
import { profiles } from '../../track/domain/mission.ts'
import { missionTemplate } from './resources/resource-uri.ts'

const planMission: Prompt = {
  name: 'plan_mission',
  title: 'Plan a mission',
  description: 'Plan an objective in phases and start tracking it',
  arguments: [
    { name: 'objective', description: 'Measurable goal', required: true },
    { name: 'profile', description: 'simple, standard or complex', required: false, completes: profiles },
  ],
  text: ({ objective, profile }) =>
    [
      `Plan this objective and track it with Waymark: ${objective}`,
      '',
      '1. Read the parts of the project that you need. Ask me about anything that would change the plan.',
      `2. Propose phases and their tasks, each with a goal that can be checked${profile ? ` (profile: ${profile})` : ''}. Wait for my agreement.`,
      '3. Call start_mission with the name, the objective, the scope and the constraints.',
      '4. Start phase 1: call start_task with the scope (areas) you will touch, before you edit any file.',
    ].join('\n'),
}

const reviewBlockers: Prompt = {
  name: 'review_blockers',
  title: 'Review blockers',
  description: 'Prepare the open inbox items for a decision',
  arguments: [
    {
      name: 'mission',
      description: 'Mission id; default: all open missions',
      required: false,
      completes: 'missions',
    },
  ],
  text: ({ mission }) =>
    [
      `Show me what needs my decision${mission ? ` in mission ${mission}` : ' in all open missions (list_missions names them)'}.`,
      '',
      '1. get_context with blockers and decisions.',
      '2. For each blocker: what happened, the options, your recommendation, and what it blocks. Check the claims in the code first.',
      '3. Do not resolve anything yourself: I do that with waymark resolve <id> or on the dashboard.',
    ].join('\n'),
}

const workNextTask: Prompt = {
  name: 'work_next_task',
  title: 'Work on the next task',
  description: 'Continue a mission with one task',
  arguments: [
    {
      name: 'mission',
      description: 'Mission id; default: the newest open one',
      required: false,
      completes: 'missions',
    },
  ],
  text: ({ mission }) =>
    [
      mission
        ? `Do the next task of mission ${mission}.`
        : 'Call list_missions and do the next task of the newest open mission.',
      '',
      '1. get_context with phase_summary, tasks, blockers and decisions. If a blocker stops you, tell me.',
      '2. start_task with the current phase and the scope (areas) you will touch, or planned_task_id, before you edit any file.',
      '3. Do the work. Use log_decision and log_issue only for what the next reader must know.',
      '4. complete_task with an honest summary. Read the measurement: explain every file out of scope to me, or undo it.',
    ].join('\n'),
}

const prompts: readonly Prompt[] = [planMission, workNextTask, reviewBlockers]

export const listedPrompts: ListPromptsResult = {
  prompts: prompts.map(({ name, title, description, arguments: taken }) => ({
    name,
    title,
    description,
    arguments: taken.map((argument) => ({
      name: argument.name,
      description: argument.description,
      required: argument.required,
    })),
  })),
}

export function getPrompt(name: string, given: PromptArguments): GetPromptResult {
  const prompt = findPrompt(name)
  const missing = prompt.arguments.find((argument) => argument.required && !given[argument.name])
  if (missing)
    throw invalidParams(`Prompt ${name} needs the argument "${missing.name}": ${missing.description}.`)
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }],
  }
}

function findPrompt(name: string): Prompt {
  const prompt = prompts.find((candidate) => candidate.name === name)
  if (prompt) return prompt
  throw invalidParams(
    `Unknown prompt: ${name}. There are ${prompts.map((prompt) => prompt.name).join(', ')}.`,
  )
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

export type PromptArguments = Readonly<Record<string, string | undefined>>

export interface PromptArgument {
  readonly name: string
  readonly description: string
  readonly required: boolean
  /** Its completions: words or the ids of missions. By default it is free text. */
  readonly completes?: readonly string[] | 'missions'
}

/** A prompt that a person picks in a client. */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly PromptArgument[]
  readonly text: (given: PromptArguments) => string
}

const maxCompletions = 50

/** Returns the ids of a kind with a prefix. */
export type IdCompleter = (kind: 'mission' | 'run' | 'task', prefix: string) => Promise<readonly string[]>

/** The completions of an argument: ids or words with the same prefix. */
export async function completeArgument(
  { ref, argument }: CompleteRequest['params'],
  idsLike: IdCompleter,
): Promise<CompleteResult> {
  if (ref.type === 'ref/prompt') {
    const promptArgument = findPrompt(ref.name).arguments.find(({ name }) => name === argument.name)
    if (promptArgument?.completes === 'missions') return completion(await idsLike('mission', argument.value))
    return completion((promptArgument?.completes ?? []).filter((word) => word.startsWith(argument.value)))
  }
  if (argument.name === 'run_id') return completion(await idsLike('run', argument.value))
  if (argument.name !== 'id') return completion([])
  return completion(await idsLike(ref.uri === missionTemplate ? 'mission' : 'task', argument.value))
}

/** The ids of a store. */
export function idsIn(store: Store): IdCompleter {
  return (kind, prefix) =>
    store.view(({ missions, runs, tasks }) =>
      ({ mission: missions, run: runs, task: tasks })[kind].idsLike(prefix, maxCompletions + 1),
    )
}

function completion(values: readonly string[]): CompleteResult {
  return { completion: { values: values.slice(0, maxCompletions), hasMore: values.length > maxCompletions } }
}
