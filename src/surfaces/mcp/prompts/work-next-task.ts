import type { Prompt } from './prompt.ts'

export const workNextTask: Prompt = {
  name: 'work_next_task',
  title: 'Work on the next task',
  description: 'Pick up a mission where it stands and do one task',
  arguments: [
    {
      name: 'mission',
      description: 'Mission id; the newest open one if left out',
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
      '1. get_context with phase_summary, tasks, blockers and decisions. If a blocker stands in the way, stop and tell me.',
      '2. start_task with the current phase and the areas you will touch (or planned_task_id), before you edit any file.',
      '3. Do the work. Use log_decision and log_issue only for what the next reader must know.',
      '4. complete_task with an honest summary. Read what it measured: explain every unexpected file to me, or undo it.',
    ].join('\n'),
}
