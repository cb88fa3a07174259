import { eventWords } from '../parts/event-words.ts'
import { entityKindOf, entityWords } from './entity-fields.ts'

/** What people read of a field. */
export interface FieldWords {
  readonly label: string
  readonly description: string
}

/** What a field is called in a form, and what it asks, where its own text is one for agents. */
export function wordsOf(operation: string, name: string): Pick<FieldWords, 'label'> & Partial<FieldWords> {
  const of = entityKindOf(operation, name)
  const label = of !== null && (name === 'id' || name.endsWith('id')) ? entityWords[of] : eventWords(name)
  return { label, ...words[name], ...words[`${operation} ${name}`] }
}

const taskRole = {
  description: 'The kind of work, such as developer. Agents can ask for tasks of their role',
}

/** By the name of a field, or of its operation and it. */
const words: Readonly<Record<string, Partial<FieldWords>>> = {
  'dep-id': { label: 'Depends on' },
  parent_task_id: { label: 'Part of' },
  areas: { label: 'Scope', description: 'Files that it may change, such as src/' },
  'sort-order': { label: 'Position', description: 'A number: the lower one comes first' },
  workflow_id: { label: 'Workflow' },
  assignee: { description: 'The only agent or role that may take it, by its name' },
  'done_when.criteria': {
    label: 'Criteria',
    description: 'Sentences that the agent answers when it completes a task',
  },
  'done_when.check': {
    label: 'Commands that must pass',
    description: 'At the end of the task, such as npm test. The inbox asks you once to allow each',
  },
  'done_when.changes': { label: 'Files that must change', description: 'Such as src/auth/**' },
  'done_when.keeps': { label: 'Files that must not change', description: 'Such as package.json' },
  'resolve answer': { description: 'Such as: use cookies' },
  'taskman_task_add role': taskRole,
  'taskman_task_edit role': taskRole,
  'taskman_phase_add id': { label: 'Id', description: 'A short one, such as P2' },
  'taskman_milestone_add id': { label: 'Id', description: 'A short one, such as M1' },
  'taskman_task_edit done_when.check': {
    description: 'At the end of the task, besides those of its mission and project. Such as npm test',
  },
  'start_mission done_when.check': {
    description: 'At the end of each task, such as npm test. The inbox asks you once to allow each',
  },
  'start_mission done_when.changes': { description: 'In each task, such as src/auth/**' },
  'start_mission done_when.keeps': { description: 'In any task, such as package.json' },
  'start_mission name': { description: 'A few words' },
  'start_mission objective': { description: 'What is true when it is done' },
  'start_mission description': { description: 'What else an agent should know' },
  'start_mission total_phases': {
    label: 'Number of phases',
    description: 'Parts of the plan, such as Build and Release. Empty if you do not know',
  },
  'start_mission constraints': { description: 'Such as: no new dependencies' },
  'start_mission process_context': {
    label: 'Values for the process',
    description: 'Its variables, if it uses some',
  },
}
