// Compares the seeds' observable statements with the tests that ran: each must be cited in the title of a test that passed,
// or in a page of docs/decisions that says why it is not there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const citation = /\b(?:MC1|MC2|TM|SG)-\d{3}\b/g

/** Sentences about what is missing or misspelt; none when the ledger is honest. `results` is vitest's JSON report. */
export function ledgerProblems(results) {
  const statements = readStatements()
  const cited = citedInTests(results)
  const explained = citedInDecisions()
  const known = new Set(statements.map(({ id }) => id))
  const uncovered = statements.filter(({ id }) => !cited.has(id) && !explained.has(id))
  const misspelt = [...cited, ...explained].filter((id) => !known.has(id))
  return [
    ...uncovered.map(
      ({ id, statement }) => `${id} is covered by no passing test and no decision: ${statement}`,
    ),
    ...misspelt.map((id) => `${id} is cited but is no statement.`),
  ]
}

function readStatements() {
  const text = readFileSync(join(root, 'test', 'requirements', 'requirements.jsonl'), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function citedInTests({ testResults }) {
  const passed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed')
  return new Set(passed.flatMap(({ fullName }) => fullName.match(citation) ?? []))
}

function citedInDecisions() {
  const folder = join(root, 'docs', 'decisions')
  const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))
  return new Set(pages.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(citation) ?? []))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = ledgerProblems(
    JSON.parse(readFileSync(process.argv[2] ?? join(root, '.cache', 'vitest.json'), 'utf8')),
  )
  for (const problem of problems) console.error(problem)
  console.log(problems.length === 0 ? 'Every statement is covered.' : `${problems.length} problems.`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
