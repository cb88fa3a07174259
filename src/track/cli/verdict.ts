import type { OutputOf } from '../../kernel/operations/catalog.ts'
import type { RenderContext } from '../../surfaces/cli/render/view.ts'
import { isContradiction } from '../domain/verdict.ts'

type VerdictAnswer = NonNullable<OutputOf<'complete_task'>['verdict']>

/** A verdict with its reasons and checks; `needed` is the command for the person who is needed. */
export function verdictText(
  { is, reasons, checks }: VerdictAnswer,
  { ink }: RenderContext,
  needed: string | null,
): string {
  const passed = checks.filter(({ exit_code, same_content }) => exit_code === 0 && same_content)
  const color = is === 'contradicted' ? 'red' : is === 'proven' ? 'green' : 'yellow'
  return [
    ...reasons.map(({ rule, text, paths = [], paths_total = paths.length }) => {
      const mark = isContradiction(rule) ? ink('red', '✗') : ink('yellow', '?')
      const more = paths_total > paths.length ? ` and ${paths_total - paths.length} more` : ''
      return `${mark} ${text}${paths.length === 0 ? '' : ` ${paths.join(', ')}${more}`}`
    }),
    ...passed.map(({ command }) => `${ink('green', '✓')} ${command}  exit 0, on exactly this content`),
    `${ink(color, is)}${needed === null ? '' : `: needs you  ${ink('bold', needed)}`}`,
  ].join('\n')
}
