import type { Operation } from '../../src/operations/operation.ts'
import { catalogJson } from './catalog-json.ts'
import { operationPage } from './operation-page.ts'

/** The generated files of docs/reference: name and text. */
export function referencePages(operations: readonly Operation[]): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', overview(operations)],
    ['catalog.json', catalogJson(operations)],
    ...operations.map((operation) => [`${operation.name}.md`, operationPage(operation)] as const),
  ])
}

function overview(operations: readonly Operation[]): string {
  const rows = operations.map(
    ({ name, tool, command, kind, audience, screen, title }) =>
      `| [${name}](${name}.md) | ${tool === undefined ? '' : `\`${tool}\``} | ${screen ? '' : `\`waymark ${command}\``} | ${kind} | ${audience} | ${title} |`,
  )
  return `# Reference

Every operation, generated from the catalog by \`npm run docs\`. \`catalog.json\` holds the same with its schemas.

| operation | tool | command | kind | who | |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}
