import { profiles } from '../../../domain/track/mission.ts'
import type { Prompt } from './prompt.ts'

export const planMission: Prompt = {
  name: 'plan_mission',
  title: 'Plan a mission',
  description: 'Break an objective into phases and start tracking it',
  arguments: [
    { name: 'objective', description: 'What must be true at the end', required: true },
    { name: 'profile', description: 'simple, standard or complex', required: false, completes: profiles },
  ],
  text: ({ objective, profile }) =>
    [
      `Plan this objective and track it with Waymark: ${objective}`,
      '',
      '1. Read what you need of the project first. Ask me about anything that would change the plan.',
      `2. Propose phases and their tasks, each with a goal that can be checked${profile ? ` (profile: ${profile})` : ''}. Wait for my agreement.`,
      '3. Call start_mission with the name, the objective, the scope and the constraints.',
      '4. Begin phase 1: start_task with the areas you will touch, before you edit any file.',
    ].join('\n'),
}
