import { inputSchema, type JsonSchema, outputSchema } from '../../src/kernel/operations/input/json-schema.ts'
import type { Operation } from '../../src/kernel/operations/operation.ts'
import { type Flag, flagsOf } from '../../src/surfaces/cli/flags.ts'
import { exampleOf } from '../../src/surfaces/cli/help.ts'
import { clientsPage } from './clients.ts'

/** The generated files of docs/reference: name and text. */
export function referencePages(operations: readonly Operation[]): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', overview(operations)],
    ['catalog.json', catalogJson(operations)],
    ['clients.md', clientsPage()],
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

/** One operation: what it is for, how it is called, what it takes and answers. */
function operationPage(operation: Operation): string {
  const flags = flagsOf(inputSchema(operation))
  return `# ${operation.name}

${operation.title}. ${operation.description.replace(/\.$/, '')}.

${calledAs(operation)}

## Takes

${flags.length === 0 ? 'Nothing.' : fieldTable(flags)}

## Answers

${Object.entries(outputSchema(operation).properties ?? {})
  .map(([name, schema]) => `- \`${name}\`: ${typeInWords(schema)}`)
  .join('\n')}

${onCommandLine(operation, flags)}`
}

/** What only a screen asks is no command. */
function onCommandLine(operation: Operation, flags: readonly Flag[]): string {
  if (operation.screen) return `Over HTTP: \`POST /api/${operation.name}\`.\n`
  return `## On the command line

\`\`\`sh
${exampleOf(operation, flags)}
\`\`\`
`
}

function calledAs({ tool, unlisted, command, kind, audience, screen }: Operation): string {
  const asTool =
    tool === undefined
      ? 'It is no tool: agents do not see it.'
      : `Tool: \`${tool}\`${unlisted ? ', which is not listed' : ''}.`
  const who = audience === 'person' ? ' Only people may call it.' : ''
  const asCommand = screen
    ? 'A screen of the dashboard asks it; it is no command.'
    : `Command: \`waymark ${command}\`.`
  return `${asTool} ${asCommand} It ${kind === 'query' ? 'only reads' : 'records something'}.${who}`
}

function fieldTable(flags: readonly Flag[]): string {
  const rows = flags.map(({ path, name, required, many, choices, description }) => {
    const notes = [
      description,
      choices.length > 0 ? `One of ${choices.join(', ')}.` : '',
      many ? 'A list.' : '',
    ]
    const text = notes
      .filter((note) => note !== '')
      .join('. ')
      .replace(/\.\. /g, '. ')
    return `| \`${path.join('.')}\` | \`--${name}\` | ${required ? 'required' : ''} | ${text.replace(/\|/g, '\\|')} |`
  })
  return `| field | flag | | |\n|---|---|---|---|\n${rows.join('\n')}`
}

function typeInWords(schema: JsonSchema & { readonly anyOf?: readonly JsonSchema[] }): string {
  if (schema.anyOf) return schema.anyOf.map(typeInWords).join(' or ')
  if (schema.type === 'array') return `list of ${typeInWords(schema.items ?? {})}`
  if (schema.enum) return `one of ${schema.enum.map(String).join(', ')}`
  return [schema.type ?? 'any value'].flat().join(' or ')
}

/** The public surface as JSON: any change of it is a visible difference. */
function catalogJson(operations: readonly Operation[]): string {
  const entries = operations.map((operation) => ({
    name: operation.name,
    tool: operation.tool ?? null,
    ...(operation.unlisted && { unlisted: true }),
    command: operation.screen ? null : operation.command,
    toolset: operation.toolset,
    audience: operation.audience,
    kind: operation.kind,
    destructive: operation.destructive ?? false,
    idempotent: operation.idempotent ?? false,
    title: operation.title,
    description: operation.description,
    positional: operation.positional ?? [],
    input: inputSchema(operation),
    output: outputSchema(operation),
  }))
  return `${JSON.stringify(entries, null, 2)}\n`
}
