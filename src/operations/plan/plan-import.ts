import { z } from 'zod'
import { planFormats } from '../../ports/plan-files.ts'
import { choice, text } from '../input/fields.ts'
import { restoreJournal } from '../journal/restore-journal.ts'
import { defineOperation } from '../operation.ts'
import { addPlan } from './add-plan.ts'
import { missionField } from './fields.ts'

export const planImport = defineOperation({
  name: 'plan_import',
  command: 'import',
  aliases: ['plan import', 'import taskman'],
  toolset: 'plan',
  audience: 'both',
  title: 'Import a plan',
  description:
    'Adds a plan from a file: Markdown, JSON, JSONL, taskman, Task Master, Backlog.md, beads; or restores an exported project. All of it or nothing.',
  kind: 'command',
  positional: ['file'],
  input: z.strictObject({
    file: text('File or folder'),
    from: choice(planFormats, 'What it is; default: as its name and content show', {
      md: 'markdown',
      taskmaster: 'task-master',
      'backlog.md': 'backlog',
    }).optional(),
    mission: missionField.optional(),
    'dry-run': z.boolean().describe('Say what would be added, and add nothing').optional(),
  }),
  output: z.looseObject({ format: z.string(), notices: z.array(z.string()) }),
}).handler(async (handling, input) => {
  const loaded = await handling.planFiles.load(input.file, input.from)
  if (loaded.kind === 'journal') return restoreJournal(handling, loaded.lines, input['dry-run'] ?? false)
  const request = { mission: input.mission, dryRun: input['dry-run'] ?? false }
  const result = await addPlan(handling, loaded.document, request)
  return { format: loaded.format, ...result, notices: [...loaded.notices, ...result.notices] }
})
