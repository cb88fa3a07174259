import { styleText } from 'node:util'
import type { Answer } from './agent.ts'

/** Tells the story on the terminal: what somebody does, what the server measured, what somebody only said. */
export function does(who: string, what: string): void {
  console.log(`\n${styleText('bold', who)} ${what}`)
}

export function chapter(title: string): void {
  console.log(`\n${styleText(['bold', 'underline'], title)}`)
}

export function note(text: string): void {
  console.log(styleText('dim', `  ${text}`))
}

/** What an agent said: outlined and attributed, never in the style of what was measured. */
export function claims(who: string, text: string): void {
  console.log(`  ${styleText('dim', '○')} ${who} says: ${styleText('italic', `“${text}”`)}`)
}

/** What Waymark measured between the two snapshots of a task. */
export function verified(report: Answer): void {
  const { verification, details, duration_seconds } = report
  const mark = verification.status === 'verified' ? styleText('green', '●') : styleText('yellow', '◐')
  console.log(`  ${mark} Waymark measured, ${verification.status}, in ${duration_seconds} s:`)
  for (const detail of details) {
    const name = detail.from === undefined ? detail.path : `${detail.from} → ${detail.path}`
    const lines = detail.added_lines === null ? '' : `+${detail.added_lines} −${detail.deleted_lines}`
    const scope = detail.scope === 'out' ? styleText('red', 'out of scope') : (detail.scope ?? 'no scope')
    console.log(`    ${detail.change.padEnd(8)}  ${name.padEnd(58)} ${lines.padEnd(8)} ${scope}`)
  }
  for (const warning of verification.warnings) console.log(`    ${styleText('yellow', warning)}`)
}
