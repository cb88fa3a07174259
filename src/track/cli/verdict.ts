import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { escapeLineBreaks } from '../../surfaces/cli/render/text.ts'
import type { RenderContext } from '../../surfaces/cli/render/view.ts'
import { isContradiction, reasonText, revokeCommand, type VerdictRule } from '../domain/verdict.ts'

type VerdictAnswer = NonNullable<OutputOf<'complete_task'>['verdict']>

export const verdictColors = { proven: 'green', unproven: 'yellow', contradicted: 'red' } as const

/** A verdict in the row of a table; nothing where nothing was judged. */
export function verdictCell(
  is: keyof typeof verdictColors | null | undefined,
  acceptedBy: string | null | undefined,
  { ink }: Pick<RenderContext, 'ink'>,
): string {
  return is == null ? '' : `${ink(verdictColors[is], is)}${acceptedBy == null ? '' : ', accepted'}`
}

/** A verdict with its reasons and checks; `needed` is the command for the person who is needed, `acceptedBy` who accepted it. */
export function verdictText(
  { is, reasons, checks }: VerdictAnswer,
  { ink }: Pick<RenderContext, 'ink'>,
  needed: string | null,
  acceptedBy?: string,
): string {
  const passed = checks.filter(({ exit_code, same_content }) => exit_code === 0 && same_content)
  return [
    ...reasons.map(
      ({ paths_total: total, ...reason }) =>
        `${isContradiction(reason.rule) ? ink('red', '✗') : ink('yellow', '?')} ${reasonText(reason, total)}`,
    ),
    ...passed.map(({ command }) => `${ink('green', '✓')} ${command}  exit 0, on exactly this content`),
    `${ink(verdictColors[is], is)}${acceptedBy === undefined ? '' : `, accepted by ${acceptedBy}`}${needed === null ? '' : `: needs you  ${ink('bold', needed)}`}`,
  ].join('\n')
}

const failedChecks: ReadonlySet<string> = new Set<VerdictRule>(['check_failed', 'check_failed_shared'])

/** What a person can do about an unproven task: run a check that waited for them, or accept uncertain files. */
export function nextStepLines(
  verdict: VerdictAnswer | null,
  { taskId, open }: { readonly taskId: string; readonly open: readonly { readonly kind: string }[] },
): readonly string[] {
  const waiting = verdict?.reasons.filter(({ rule }) => rule === 'check_not_approved') ?? []
  // The text of a rejected check names what comes before that.
  const isRejected = waiting.some(({ text }) => text.includes(revokeCommand('')))
  const isAsked = open.some(({ kind }) => kind === 'command')
  const isUncertain =
    verdict?.is === 'unproven' &&
    verdict.reasons.some(({ rule, paths }) => rule === 'measurement_partial' && paths !== undefined)
  return [
    ...(waiting.length > 0 && !isAsked
      ? [
          `${isRejected ? 'Then check it' : 'Check it now'}: waymark verify ${taskId}`,
          `If its files changed since, accept it: waymark review ${taskId}`,
        ]
      : []),
    ...(verdict?.reasons.some(({ rule }) => failedChecks.has(rule))
      ? [`Run it again, and read what it prints: waymark verify ${taskId}`]
      : []),
    ...(isUncertain ? [`Accept it: waymark review ${taskId}. Next time: waymark worktree add <task>`] : []),
  ]
}

/** Files that the agent says are not its own work; none for most completions. */
export function deniedLine(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`not mine  ${paths.map(escapeLineBreaks).join(', ')}`]
}
