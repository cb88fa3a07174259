import { inputSchema, type JsonSchema, outputSchema } from '../../src/operations/input/json-schema.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { type Flag, flagsOf } from '../../src/surfaces/cli/arguments/flag.ts'
import { exampleOf } from '../../src/surfaces/cli/help/example.ts'

/** One operation: what it is for, how it is called, what it takes and answers. */
export function operationPage(operation: Operation): string {
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
