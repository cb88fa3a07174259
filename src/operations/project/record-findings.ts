import type { ChainInspection, Inspection } from '../../ports/store.ts'

/** One thing that was looked at. */
export interface Check {
  readonly check: string
  readonly ok: boolean
  readonly finding: string
}

const restoring = 'Restore a backup with `waymark restore <file>`.'
const mostTold = 10

/** What was found in a whole record, a line for each part of it. */
export function recordFindings(found: Inspection): readonly Check[] {
  return [fileFinding(found), chainFinding(found), tablesFinding(found), ...anchorFinding(found)]
}

/** What the journal says of itself: no table was looked at. */
export function chainFindings(found: ChainInspection): readonly Check[] {
  return [chainFinding(found), ...anchorFinding(found)]
}

function anchorFinding({ anchor }: ChainInspection): readonly Check[] {
  return anchor ? [{ check: 'anchor', ok: anchor.ok, finding: anchor.says }] : []
}

function fileFinding({ damage }: Inspection): Check {
  if (damage.length === 0) return { check: 'file', ok: true, finding: 'SQLite finds the file sound' }
  return {
    check: 'file',
    ok: false,
    finding: `The database file is damaged: ${listed(damage)}. \`waymark doctor --repair\` builds again what the facts still tell; else restore a backup with \`waymark restore <file>\`.`,
  }
}

function chainFinding({ facts, brokenAt }: ChainInspection): Check {
  if (brokenAt === null)
    return { check: 'journal', ok: true, finding: `${facts} facts, the hash chain holds` }
  const finding = `The hash chain breaks at fact ${brokenAt}: it, or one before it, was changed or removed outside Waymark. ${restoring}`
  return { check: 'journal', ok: false, finding }
}

function tablesFinding({ brokenAt, trouble, tables, rows, differing, differences }: Inspection): Check {
  if (trouble !== null) return { check: 'tables', ok: false, finding: `${trouble} ${restoring}` }
  if (brokenAt !== null) {
    return { check: 'tables', ok: false, finding: 'Not compared, because the journal is broken.' }
  }
  if (differing === 0) {
    return { check: 'tables', ok: true, finding: `${rows} rows in ${tables} tables are what the facts make` }
  }
  const first = differences.slice(0, mostTold).map(({ says }) => says)
  const rest = differing > first.length ? [`And ${differing - first.length} more.`] : []
  const many = differing === 1 ? '1 row is' : `${differing} rows are`
  return {
    check: 'tables',
    ok: false,
    finding: [
      `${many} not what the facts make: changed outside Waymark.`,
      ...first,
      ...rest,
      '`waymark doctor --repair` makes them again from the facts.',
    ].join(' '),
  }
}

function listed(lines: readonly string[]): string {
  const shown = lines.slice(0, mostTold).map((line) => line.replace(/\s+/g, ' ').trim())
  return lines.length > mostTold ? `${shown.join('; ')}; and more` : shown.join('; ')
}
