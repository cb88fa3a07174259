import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { type Interval, obey, sideBySide } from './child.ts'

// The least that one transaction of the log costs on PostgreSQL: lock the counter row, insert a log entry, update two
// rows, write the counter, commit. Word: the database's URL. Each writer has a connection of its own.

export interface BareOrder {
  readonly writers: number
  readonly projects: number
  readonly isPipelined: boolean
  readonly milliseconds: number
}

const [url = ''] = process.argv.slice(2)
const clients: Client[] = []

async function opened(): Promise<Client> {
  const client = new Client({ connectionString: url, pipeline: true })
  await client.connect()
  return client
}

const statements = {
  begin: 'begin',
  lock: 'select seq, head from bare_project where id = $1 for no key update',
  event: 'insert into bare_fact values ($1, $2, $3, $4, $5, $6)',
  task: 'update bare_task set progress = $2, last_seq = $3 where id = $1',
  attempt: 'update bare_attempt set progress = $2, last_seq = $3 where id = $1',
  counter: 'update bare_project set seq = $2, head = $3 where id = $1',
  commit: 'commit',
}
const body = JSON.stringify({
  message: 'Half way there, and the tests of the first part pass',
  note: 'x'.repeat(180),
})
const actor = JSON.stringify({ name: 'agent', kind: 'agent', role: null })

/** A named statement, prepared once on each connection. */
function ask(client: Client, name: keyof typeof statements, values: readonly unknown[] = []) {
  return client.query({ name, text: statements[name], values: [...values] })
}

async function transaction(client: Client, project: number, isPipelined: boolean): Promise<number> {
  const inTurn = async (work: readonly (() => Promise<unknown>)[]) => {
    if (isPipelined) await Promise.all(work.map((step) => step()))
    else for (const step of work) await step()
  }
  let seq = 0
  let head = ''
  await inTurn([
    () => ask(client, 'begin'),
    async () => {
      const { rows } = await ask(client, 'lock', [project])
      seq = Number(rows[0].seq) + 1
      head = createHash('sha256').update(`${rows[0].head}${seq}${body}`).digest('hex')
    },
  ])
  await inTurn([
    () => ask(client, 'event', [project, seq, Date.now(), actor, body, head]),
    () => ask(client, 'task', [project, seq % 100, seq]),
    () => ask(client, 'attempt', [project, seq % 100, seq]),
    () => ask(client, 'counter', [project, seq, head]),
    () => ask(client, 'commit'),
  ])
  return 1
}

async function work({ writers, projects, isPipelined, milliseconds }: BareOrder): Promise<Interval> {
  while (clients.length < writers) clients.push(await opened())
  return sideBySide(writers, milliseconds, async (writer) => {
    const client = clients[writer]
    return client ? transaction(client, writer % projects, isPipelined) : null
  })
}

const first = await opened()
clients.push(first)
await first.query(`
  create table if not exists bare_project (id int primary key, seq bigint not null, head text not null);
  create table if not exists bare_task (id int primary key, progress int not null, last_seq bigint not null);
  create table if not exists bare_attempt (id int primary key, progress int not null, last_seq bigint not null);
  create table if not exists bare_fact (project_id int, seq bigint, at bigint, actor text, body text, hash text,
    primary key (project_id, seq));
  insert into bare_project select n, 0, '' from generate_series(0, 19) n on conflict do nothing;
  insert into bare_task select n, 0, 0 from generate_series(0, 19) n on conflict do nothing;
  insert into bare_attempt select n, 0, 0 from generate_series(0, 19) n on conflict do nothing;`)
obey(work, () => Promise.all(clients.map((client) => client.end())))
