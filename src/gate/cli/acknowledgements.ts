import { blocks, bullets, indentText, section, statusWord } from '../../surfaces/cli/render/parts.ts'
import { formatAge } from '../../surfaces/cli/render/text.ts'
import type { AnswerView } from '../../surfaces/cli/render/view.ts'

export const runCreated: AnswerView<'state_gate_create_run'> = (answer, { ink }) => {
  const subject = answer.task_id ?? answer.mission_id
  return [
    `${ink('green', 'Created')} ${ink('bold', answer.run_id)} of ${answer.process_id} ${answer.process_version}${subject === null ? '' : ` for ${subject}`}.`,
    `It is in "${answer.current_state}". What it needs: waymark run show ${answer.run_id}`,
  ].join('\n')
}

export const runMigrated: AnswerView<'run_migrate'> = (answer, { ink }) =>
  answer.migrated
    ? `${ink('green', 'Migrated')} ${answer.run_id} from version ${answer.from_version} to ${answer.to_version}: it is in "${answer.to_state}".`
    : `${answer.run_id} already follows version ${answer.to_version}. Nothing changed.`

export const runCancelled: AnswerView<'run_cancel'> = (answer, { ink }) =>
  `${ink('green', 'Canceled')} ${answer.run_id} in "${answer.current_state}".`

export const runSummary: AnswerView<'run_summary'> = (answer, page) => {
  const { process, progress, messages = [] } = answer
  const steps = progress.fewest_steps_to_end
  return blocks(
    `${page.ink('bold', process.name)}  ${statusWord(answer.status, page)} in "${answer.current_state}"\n${page.ink('dim', `${answer.run_id}, moved ${formatAge(answer.updated_at, page.now)}`)}`,
    section('Done', indentText(progress.completed_states.join(', ')), page),
    section('To come', indentText(progress.remaining_states.join(', ')), page),
    steps === null || steps === 0 ? '' : `At least ${steps === 1 ? '1 step' : `${steps} steps`} to the end.`,
    section(
      'Messages',
      indentText(
        bullets(
          messages.map(
            ({ author, did, words, created_at }) =>
              `${author} ${did} ${formatAge(created_at, page.now)}${words === '' ? '' : `: ${words}`}`,
          ),
        ),
      ),
      page,
    ),
  )
}

export const commandRevoked: AnswerView<'command_revoke'> = (answer, { ink }) =>
  `${ink('green', 'Revoked')} the answer for "${answer.run}". Waymark asks again before it runs.`

export const ciReported: AnswerView<'ci_report'> = (answer, { ink }) =>
  answer.repeated
    ? `The result of "${answer.check}" was already reported. Nothing changed.`
    : `${ink('green', 'Reported')} "${answer.check}": ${answer.status}.`
