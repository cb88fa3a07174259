import { describe } from 'vitest'

// In one file, so that one process has a browser, and loads and compiles the dashboard once. Longest first.
const subjects = [
  'screens',
  'acting',
  'sign-in',
  'review-turns',
  'payloads',
  'notifications',
  'live',
  'approval',
]

for (const subject of subjects) describe(subject, () => import(`./journeys/${subject}.ts`))
