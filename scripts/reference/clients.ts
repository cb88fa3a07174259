import type { Client } from '../../src/clients/setup/client.ts'
import { setupClients } from '../../src/clients/setup/setup-clients.ts'
import type { SetupContext, SetupScope } from '../../src/clients/setup/setup-context.ts'

const context: SetupContext = {
  platform: 'linux',
  home: '~',
  environment: {},
  folder: '',
  program: { node: 'node', bin: 'waymark.js', capture: 'waymark-capture.cjs', version: '0', isNamed: true },
}

/** What setup knows of each client, and when that was last looked at. */
export function clientsPage(): string {
  return `# Clients

What \`waymark setup <client>\` writes, generated from \`src/clients\` by \`npm run docs\`. Paths are those of Linux.
[How to set a client up](../guide/clients.md).

## Where the entry goes

| client | word | in the project | of the user | last checked | by |
|---|---|---|---|---|---|
${setupClients.map(placesRow).join('\n')}

"Program": seen with the program itself. "Source", "documentation": read there, not tried.

## Hooks, and the tools that are allowed

| client | hooks | with \`--allow\` |
|---|---|---|
${setupClients.map(hooksRow).join('\n')}

## Events

The gate listens to those in bold; the others are only recorded, and left out with \`--no-capture\`.

${setupClients.flatMap(eventsLine).join('\n')}
`
}

function placesRow(client: Client): string {
  const { version, on, method } = client.checked
  const words = [client.id, ...(client.aliases ?? [])].map((word) => `\`${word}\``).join(', ')
  const file = (scope: SetupScope) => {
    const place = client.server(context, scope)
    return place === null ? '' : `\`${place.file}\``
  }
  const seen = version === null ? on : `${version}, ${on}`
  return `| ${client.title} | ${words} | ${file('project')} | ${file('user')} | ${seen} | ${method} |`
}

function hooksRow(client: Client): string {
  const { hooks, allow } = client
  const files = () =>
    hooks.kind === 'none'
      ? hooks.says
      : [...new Set((['project', 'user'] as const).map((scope) => `\`${hooks.file(context, scope)}\``))].join(
          ', ',
        )
  return `| ${client.title} | ${files()} | ${allowedBy(allow)} |`
}

function allowedBy(allow: Client['allow']): string {
  if (allow.kind === 'always') return 'They are allowed by default'
  if (allow.kind === 'entry') return 'In the entry'
  if (allow.kind === 'person') return allow.says
  const inScope = (scope: SetupScope) => {
    const at = { context, scope, tools: ['…'], byPlugin: false }
    const places = allow.edits(at).flatMap((edit) => {
      return edit.kind === 'json' ? [`\`${edit.file}\`: \`${edit.place.keys.join('.')}\``] : []
    })
    return [...places, ...(allow.says?.(at) ?? []).map((said) => said.replace(/\.$/, ''))].join('. ')
  }
  return `${inScope('project')}. With \`--user\`: ${inScope('user')}`
}

function eventsLine({ title, hooks }: Client): readonly string[] {
  if (hooks.kind === 'none') return []
  const events = hooks.events.map(({ name, gate }) => (gate === undefined ? name : `**${name}**`))
  return [`- ${title}: ${events.join(', ')}`]
}
