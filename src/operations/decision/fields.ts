import { identifier, text } from '../input/fields.ts'

export const decidedField = identifier('The hold, the issue that opened it, or the run (h-…, i-… or run-…)')
export const reasonField = text('Why; the waiting agent is told').optional()
export const roleField = identifier(
  'The role in which you decide, where the process has several for people',
).optional()
export const contentField = identifier(
  'What you saw: the content that inbox, page or answer showed, or its first characters; refused where it is another now',
).optional()
