import { useEffect } from 'preact/hooks'
import { assumableNames } from '../../../src/domain/gate/simulate.ts'
import type { ProcessPage } from '../../api/answers.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Failed } from '../../parts/failed.tsx'
import { Prose } from '../../parts/prose.tsx'
import { crumb } from '../../router/current.ts'
import { href, query, setQuery } from '../../router/location.ts'
import { Parts } from './parts.tsx'
import { Simulation } from './simulation.tsx'
import { Source } from './source.tsx'

const tabs = [
  { name: 'simulate', title: 'Simulate' },
  { name: 'parts', title: 'States and guards' },
  { name: 'source', title: 'Source' },
] as const

type Tab = (typeof tabs)[number]['name']

/** One process: how it is played, what it is made of, how it is written. */
export function Definition({ name }: { readonly name: string }) {
  const read = useQuery('process_page', { process: name }, ({ event }) => event.startsWith('run:'))
  const page = read.answer.value
  useEffect(() => {
    crumb.value = [{ text: 'Processes', href: href('/processes') }, { text: name }]
  }, [name])
  const tab = tabNow(page)
  useCommands({
    ...Object.fromEntries(tabs.map((each, at) => [`tab ${at + 1}`, () => setQuery({ tab: each.name })])),
    'copy id': () => void navigator.clipboard.writeText(name),
  })
  if (page === null) return <Failed failure={read.failure} />
  const { definition } = page
  return (
    <div class="page-inner process">
      <Head page={page} />
      <nav class="tabs" aria-label="Parts of this process">
        {tabs.map(({ name: other, title }) => (
          <a
            key={other}
            href={href(`/processes/${name}?tab=${other}`)}
            {...(other === tab && { 'aria-current': 'page' })}
          >
            {title}
            {other === 'source' && page.findings.length > 0 ? (
              <span class="count"> {page.findings.length}</span>
            ) : null}
          </a>
        ))}
      </nav>
      {tab === 'source' || definition === null ? <Source page={page} /> : null}
      {tab === 'parts' && definition ? <Parts definition={definition} /> : null}
      {tab === 'simulate' && definition && page.machine ? (
        <Simulation key={assumableNames(definition).join()} definition={definition} machine={page.machine} />
      ) : null}
    </div>
  )
}

/** What cannot be played is shown as it is written. */
function tabNow(page: ProcessPage | null): Tab {
  const asked = tabs.find(({ name }) => name === query.value.get('tab'))?.name ?? 'simulate'
  return page?.definition === null ? 'source' : asked
}

function Head({ page }: { readonly page: ProcessPage }) {
  const { process_id, name, version, origin, file, definition, runs_total } = page
  return (
    <header class="run-head">
      <div>
        <h1>
          {name ?? process_id} <span class="run-id mono muted">{version === null ? '' : `v${version}`}</span>
        </h1>
        <p class="muted">
          <Prose text={definition?.description ?? ''} />
        </p>
      </div>
      <dl class="facts">
        <div>
          <dt>Active runs</dt>
          <dd>{runs_total > 0 ? <a href={href('/processes')}>{runs_total}</a> : 0}</dd>
        </div>
        <div>
          <dt>{origin === 'shipped' ? 'Comes with Waymark' : 'File'}</dt>
          <dd class="mono process-file">{file}</dd>
        </div>
      </dl>
    </header>
  )
}
