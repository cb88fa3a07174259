import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { planMission } from './plan-mission.ts'
import type { Prompt, PromptArguments } from './prompt.ts'
import { reviewBlockers } from './review-blockers.ts'
import { workNextTask } from './work-next-task.ts'

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
  if (missing) throw invalid(`Prompt ${name} needs the argument "${missing.name}": ${missing.description}.`)
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }],
  }
}

export function findPrompt(name: string): Prompt {
  const prompt = prompts.find((candidate) => candidate.name === name)
  if (prompt) return prompt
  throw invalid(`Unknown prompt: ${name}. There are ${prompts.map((known) => known.name).join(', ')}.`)
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
