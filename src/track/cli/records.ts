import { itemOutcome } from '../../inbox/domain/inbox-item.ts'
import type { BlockerEntry } from '../../inbox/operations/item-answer.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { blocks, bullets, indentText } from '../../surfaces/cli/render/parts.ts'
import { formatAge } from '../../surfaces/cli/render/text.ts'
import type { RenderContext } from '../../surfaces/cli/render/view.ts'
import type { DecisionEntry, ProgressEntry } from '../operations/record-answer.ts'

/** Decisions in the agents' own words. */
export function decisionList(decisions: readonly DecisionEntry[], page: RenderContext): string {
  return decisions
    .map((decision) => {
      const head = `${decision.question} ${page.ink('bold', decision.chosen)}`
      return `- ${head}  ${page.ink('dim', byline(decision, page))}\n  ${quoteText(decision.reasoning, page)}`
    })
    .join('\n')
}

export function progressList(progress: readonly ProgressEntry[], page: RenderContext): string {
  return progress
    .map((step) => {
      const share = step.progress === null ? '' : ` (${step.progress} %)`
      return `- ${quoteText(step.message, page)}${share}  ${page.ink('dim', byline(step, page))}`
    })
    .join('\n')
}

/** An issue; a blocker with its inbox item and answer. */
type IssueLine = Pick<BlockerEntry, 'id' | 'type' | 'description' | 'resolution'> & Partial<BlockerEntry>

export function issueList(issues: readonly IssueLine[], page: RenderContext): string {
  return issues
    .map((issue) => {
      const type = issue.type.toLowerCase().replace(/_/g, ' ')
      const { resolved, item_id: id = issue.id } = issue
      const answer = resolved
        ? `\n  ${itemOutcome(resolved)} by ${resolved.closed_by ?? 'Waymark'}${resolved.answer === null ? '' : `: ${resolved.answer}`}`
        : ''
      const workaround =
        issue.resolution === null ? '' : `\n  meanwhile: ${quoteText(issue.resolution, page)}`
      return `- ${id}  ${type}: ${quoteText(issue.description, page)}${workaround}${answer}`
    })
    .join('\n')
}

function byline(
  entry: { readonly agent_name: string | null; readonly created_at: string },
  page: RenderContext,
): string {
  const when = formatAge(entry.created_at, page.now)
  return entry.agent_name === null ? when : `${entry.agent_name}, ${when}`
}

const lists = [
  ['achievements', 'Achieved'],
  ['limitations', 'Limitations'],
  ['next_steps', 'Next'],
  ['packages_added', 'Packages added'],
  ['packages_removed', 'Packages removed'],
  ['commands_executed', 'Commands run'],
] as const

/** The claims of an agent about an attempt or a mission. */
type AgentClaims = Partial<
  NonNullable<Extract<OutputOf<'show'>, { readonly kind: 'task' }>['attempts'][number]['claimed']>
>

/** Claims are attributed and in italics, never formatted like measurements. */
export function claims(
  claimed: Omit<AgentClaims, 'summary'> & { readonly summary: string | null },
  speaker: string,
  { ink }: RenderContext,
): string {
  const parts = [
    claimed.summary ?? '',
    ...lists.map(([field, title]) => {
      const items = claimed[field] ?? []
      return items.length === 0 ? '' : `${title}:\n${indentText(bullets(items))}`
    }),
    ...(claimed.criteria ?? []).map(
      ({ criterion, met, how }) => `${met ? 'Met' : 'Not met'}: ${criterion}${how ? ` (${how})` : ''}`,
    ),
    claimed.tests_status ? `Tests: ${claimed.tests_status}` : '',
  ].filter((part) => part !== '')
  if (parts.length === 0) return ''
  return blocks(`${ink('italic', `${speaker} claims:`)}\n${indentText(inkLines(parts.join('\n'), ink))}`)
}

/** A claim in one line. */
export function quoteText(text: string, { ink }: RenderContext): string {
  return text === '' ? '' : ink('italic', `"${text}"`)
}

function inkLines(text: string, ink: RenderContext['ink']): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : ink('italic', line)))
    .join('\n')
}
