import { identifier } from '../input/fields.ts'

export const runField = identifier('Run ID; may be left out when exactly one run is active').optional()
