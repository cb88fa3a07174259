import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noticeKinds } from '../../src/notifications/domain/notification.ts'

const root = join(import.meta.dirname, '..', '..')

/** A page as one line, so that a sentence is found however it is wrapped. */
function page(path: string): string {
  return readFileSync(join(root, path), 'utf8').replaceAll(/\s+/g, ' ')
}

/** The blocks of code of a page, of one language. */
function blocks(path: string, language = ''): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, named, block]) =>
    named === language && block !== undefined ? [block] : [],
  )
}

describe('the guide for agents', () => {
  const guide = page('docs/guide/agents.md')
  const prompt = blocks('docs/guide/agents.md').at(-1) ?? ''

  test('MC1-033 offers a text for the system prompt that names each call and when', () => {
    expect(guide).toContain('.claude/prompts/system.md')
    expect(prompt).toMatch(/start_task before/)
    expect(prompt).toMatch(/log_decision for an important architectural decision, log_issue for a problem/)
    expect(prompt).toMatch(/log_milestone\s+for progress .*, at most five times/)
    expect(prompt).toMatch(/complete_task at the end with a structured summary/)
  })

  test('MC1-034 tells to record only what has value, and that the server computes the files', () => {
    expect(prompt).toContain(
      'Record only what has real value. achievements and limitations may be empty arrays.',
    )
    expect(prompt).toMatch(/Name the files you changed in it: the server computes what\s+really changed/)
  })

  test('MC2-108 MC2-115 MC2-123 says what decisions, issues and milestones are for', () => {
    expect(guide).toMatch(
      /`log_decision` \| a library chosen, an architecture, a trade-off .*, a technical workaround \| variable names; choices without an alternative/,
    )
    expect(guide).toContain('`documentation_gap` | documentation is missing or outdated')
    expect(guide).toContain('`bug_encountered` | a bug in a library or in the code')
    expect(guide).toContain('`dependency_conflict` | versions that do not fit')
    expect(guide).toContain('`unclear_requirement` | the specification is vague')
    expect(guide).toContain('`other` | anything else')
    expect(guide).toMatch(
      /`log_milestone` \| one short sentence .* may be left out \| .* at most five in a task/,
    )
  })

  test('MC2-125 leads from start_workflow to start_mission', () => {
    expect(guide).toMatch(
      /`start_workflow` is for integrations that know nothing else; new ones begin with `start_mission`/,
    )
  })

  test('SG-058 SG-061 a run begins with its state, and each event has a key of its own', () => {
    const runs = page('docs/guide/runs.md')
    expect(guide).toMatch(
      /begin with `state_gate_get_state`.*`allowed_events` and `missing_guards`.*`state_gate_emit_event`/,
    )
    expect(runs).toContain('**The idempotency key is new for each event**: a UUID')
    expect(runs).toMatch(/Never a fixed word such as `submit-observation`/)
  })
})

describe('the page about clients', () => {
  const configurations = blocks('docs/guide/clients.md', 'json').map((block) => JSON.parse(block))

  test('TM-009 TM-081 shows a configuration with taskman’s variables', () => {
    expect(configurations).toContainEqual({
      mcpServers: {
        waymark: {
          command: 'waymark',
          args: ['mcp'],
          env: { TASKMAN_DB_NAME: 'project_tasks.db', TASKMAN_JOURNAL_MEMORY: '1' },
        },
      },
    })
    expect(page('README.md')).toContain('docs/guide/clients.md')
  })

  test('TM-083 says that the client must find the command', () => {
    expect(page('docs/guide/clients.md')).toMatch(
      /give the absolute path as above, or run `npm link` once .* `PATH`/,
    )
  })
})

test('the page about notifications lists every kind', () => {
  const text = readFileSync(join(root, 'docs/guide/notifications.md'), 'utf8')
  const table = text.slice(text.indexOf('| kind |'), text.indexOf('## Desktop'))
  expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind)).toEqual([...noticeKinds])
})

test('MC2-142 the architecture and the tables of the database have their pages', () => {
  const architecture = page('ARCHITECTURE.md')
  expect(architecture).toContain('src/ ├── kernel/')
  expect(architecture).toContain('src/store/tables')
  expect(existsSync(join(root, 'src/store/tables/tables.ts'))).toBe(true)
})

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s is short, and names files that exist', (path) => {
  const text = readFileSync(join(root, path), 'utf8')
  const rows = text.split('\n').map((line) => Math.max(1, Math.ceil(line.length / 120)))
  expect(rows.reduce((one, other) => one + other)).toBeLessThanOrEqual(150)
  const tree = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
  const files = tree.map((file) => `/${file}`).join('\n')
  const named = [...text.matchAll(/`([\w-]+(?:\/[\w.-]+)*\/?)`/g)].flatMap(([, name = '']) =>
    /\/|\.(?:[cm]?[jt]sx?|json|md)$/.test(name) ? [name] : [],
  )
  expect(named.length).toBeGreaterThan(20)
  const missing = named.filter((name) => !files.includes(`/${name}`))
  expect(missing).toEqual([])
})

test('the index of decisions lists each page, and no page is long', () => {
  const folder = join(root, 'docs', 'decisions')
  const pages = readdirSync(folder).filter((name) => name !== 'README.md')
  const listed = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g)]
  expect(listed.map(([, name]) => name)).toEqual(pages.toSorted())
  const words = (name: string) => readFileSync(join(folder, name), 'utf8').split(/\s+/).length
  expect(pages.filter((name) => words(name) > 250)).toEqual([])
})

test('all guides together have at most 20,000 words outside code blocks', () => {
  const folder = join(root, 'docs', 'guide')
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'))
  const guides = names.map((name) => join(folder, name))
  const pages = ['docs/README.md', 'docs/glossary.md', 'SECURITY.md'].map((name) => join(root, name))
  const words = [...guides, ...pages].flatMap((path) => {
    const text = readFileSync(path, 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '')
    return text.split(/\s+/).filter((token) => /[\p{L}\p{N}]/u.test(token))
  })
  expect(words.length, `The guides have ${words.length} words.`).toBeLessThanOrEqual(20_000)
})

test('every link between the pages leads to a file and a heading', () => {
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
  pages.push('web/README.md', 'docs/README.md')
  for (const folder of ['docs/guide', 'docs/decisions', 'docs/reference']) {
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))
    pages.push(...names.map((name) => `${folder}/${name}`))
  }
  const broken = pages.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)]
    return links
      .filter(([, file = '', heading = '']) => {
        const target = file === '' ? join(root, path) : join(root, dirname(path), file)
        if (!existsSync(target)) return true
        return heading !== '' && target.endsWith('.md') && !anchors(target).includes(heading)
      })
      .map(([link]) => `${path} → ${link}`)
  })
  expect(broken).toEqual([])
})

/** The headings of a page, as GitHub links to them. */
function anchors(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8').replaceAll(/^```.*?^```/gms, '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
}
